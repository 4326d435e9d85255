/** A node agent in a process of its own, which has nothing of the server in it. */
export { type Agent, type AgentOptions, startAgent } from './agent.ts'
export { JoinError, type JoinOrder } from './discover-cluster.ts'
