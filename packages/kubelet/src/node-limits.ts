/** Nodes in one group, at most. */
export const nodeAgentsMax = 20_000
