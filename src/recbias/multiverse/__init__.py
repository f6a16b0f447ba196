"""All combinations of options of one comparison, and what they say together.

Begin with `universes`. Options are crossed (`crossing`), what is trained together is measured
together (`measuring`), and many universes say something together (`summary`). Which options are
crossed by default was fixed before any result (`defaults`). How often options are right was
measured (`agreement`) in worlds of several kinds (`kinds`), from which follow `weights`: `trusted`.
"""

from recbias.multiverse.defaults import default_options
from recbias.multiverse.universes import Universes, universes
from recbias.multiverse.weights import Trusted, trusted

__all__ = ["Trusted", "Universes", "default_options", "trusted", "universes"]
