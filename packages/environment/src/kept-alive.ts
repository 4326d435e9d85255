/**
 * Has the kernel ask the other end of a connection that is silent whether it is still there, as upstream's servers do: a machine that has lost its
 * power or its network says no goodbye, and what it had would be held for ever. Options of servers and of connections.
 */
export const keptAlive = { keepAlive: true, keepAliveInitialDelay: 15_000 } as const
