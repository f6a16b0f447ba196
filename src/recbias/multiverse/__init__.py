"""All combinations of options of one comparison: does A beat B whatever one decides?"""
