"""HTTP: what every request passes before and after its route: limits, security, tokens, metrics, answers."""
