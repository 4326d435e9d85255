import { type StateReport, StateWriter } from '@coracle/apiserver'
import type { Environment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { ClusterState } from './read-state.ts'

/**
 * Puts the objects of a state into a store that has nothing yet and no server on it, as they are (see `StateWriter`). A cluster
 * that is started on the store goes on from there; with `nodes: 'stored'` its nodes are simulated under their own names.
 * Resolves to what was written and what was not.
 */
export async function loadState(
  store: Store,
  { objects }: Pick<ClusterState, 'objects'>,
  environment: Environment,
): Promise<StateReport> {
  if ((await store.latest()) !== 0) throw new Error('a state is loaded into an empty store, and this one is not')
  const writer = new StateWriter(store, environment)
  await writer.write(objects)
  await writer.finish()
  return writer.report
}
