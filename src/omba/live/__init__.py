"""Live: a stream of baskets made durable in a journal, learned as its windows close, and published whole."""
