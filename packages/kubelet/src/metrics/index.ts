/** What the agent of a node counts of its own work. Loaded with the first pod of a node of real containers, and by agents on other machines when they start. */
export { createAgentMetrics } from './create-agent-metrics.ts'
export { measuredRuntime } from './measured-runtime.ts'
