/** What the agent of a node counts of its own work. Loaded by agents that run containers of a kind that is worth it. */
export { createAgentMetrics } from './create-agent-metrics.ts'
export { measuredRuntime } from './measured-runtime.ts'
