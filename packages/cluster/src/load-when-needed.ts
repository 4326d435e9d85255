import { loadWhatControllersNeedLater } from '@coracle/controllers'
import { loadWhatAgentsNeedLater } from '@coracle/kubelet'
import { loadWhatSchedulersNeedLater } from '@coracle/scheduler'

/**
 * Loads what the components of a cluster on virtual time load when they first need it. How long that takes is the host's: where runs have to be
 * alike, it is done before the first.
 */
export async function loadWhatClustersNeedLater(): Promise<void> {
  await Promise.all([loadWhatControllersNeedLater(), loadWhatSchedulersNeedLater(), loadWhatAgentsNeedLater()])
}
