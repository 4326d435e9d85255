/** The runtime whose containers are processes of this host. It stands apart: clusters without such nodes never load it. */
export { hostServiceCidr } from './address-ranges.ts'
export { createProcessRuntime, type ProcessRuntimeOptions } from './process-runtime.ts'
