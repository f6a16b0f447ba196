"""The page "The systems": line-ups against published values, ties, parameters.

`line_up` says what is measured, `validation` compares with published values, `ties` tries LibRec's
order of ties, `sensitivity` moves parameters, `readings` sets algorithms of one name side by side.
"""
