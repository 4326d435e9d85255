import { builtinKinds, loadStructForms } from '@coracle/api'
import { loadWhatClustersNeedLater } from '@coracle/cluster'

/**
 * Loads what servers, schedulers, controllers and node agents load with the first object of a kind, or the first that is refused. How long that takes is the host's: a run in
 * which it happened would differ from the next.
 */
export async function loadStrategies(): Promise<void> {
  await Promise.all([
    ...builtinKinds.map(({ strategy }) => strategy.load?.()),
    loadStructForms(),
    loadWhatClustersNeedLater(),
  ])
}
