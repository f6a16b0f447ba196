"""What an evaluation asks: splits, judgments, relevance, target sets, averages, the protocol.

Each is a value that prints and parses. It imports `recbias.data`. Begin with
`recbias.protocol.protocol.Protocol`, whose parts the other modules hold.
"""
