"""The MD2 family: the vertex-animated models of Quake II and related games."""
