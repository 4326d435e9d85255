/** Loads what node agents load with the first change of a pod on simulated nodes: where runs have to be alike, that is done before the first. */
export async function loadWhatAgentsNeedLater(): Promise<void> {
  await import('./pod/pod-resizing.ts')
}
