/** What simulated containers do beside what their environment says. */
export {
  asSpecified,
  endingTasks,
  probeDelayMs,
  type SimulatedBehaviour,
  type SimulatedConduct,
  type SimulatedContainer,
  withoutImages,
} from '@coracle/kubelet/simulated'
