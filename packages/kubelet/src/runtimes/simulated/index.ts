/** Nodes and containers that exist in the API alone. */
export {
  createNodeAgents,
  type NodeAgents,
  type NodeAgentsOptions,
  type StoredNodes,
  simulatedNodeAddress,
} from '../../node-agents.ts'
export { probeDelayMs } from './probe-delay.ts'
export {
  asSpecified,
  endingTasks,
  type SimulatedBehaviour,
  type SimulatedConduct,
  type SimulatedContainer,
  type SimulatedRun,
  withoutImages,
} from './simulated-run.ts'
export {
  createSimulatedRuntime,
  type SimulatedRuntime,
  type SimulatedRuntimeOptions,
  simulatedPodsMax,
} from './simulated-runtime.ts'
