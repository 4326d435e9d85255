import { readFile } from 'node:fs/promises'
import { KubeconfigEdit, type KubeconfigPart } from '@coracle/client'
import type { Host } from '../host.ts'
import { type ClusterPlace, commonKubeconfig, ownKubeconfig } from './cluster-place.ts'
import { changeKubeconfigFile } from './kubeconfig-file.ts'

/** The lists of a kubeconfig. */
export const kubeconfigParts: readonly KubeconfigPart[] = ['cluster', 'user', 'context']

/**
 * Puts the context of a cluster into the kubeconfig that all clusters of its home have in common. It becomes the current one
 * where there is none, or where it `isWanted`.
 */
export async function shareKubeconfig(place: ClusterPlace, host: Host, isWanted = false): Promise<void> {
  const { home, name } = place
  if (home === undefined || (commonKubeconfig(home) === ownKubeconfig(place) && !isWanted)) return
  const own = await readOwnKubeconfig(place)
  const share = (edit: KubeconfigEdit) => {
    for (const part of kubeconfigParts) copyEntries(own, edit, part)
    if (isWanted || edit.currentContext === undefined) edit.currentContext = name
  }
  // Several clusters that start at once all do this, each in a moment.
  await changeKubeconfigFile(commonKubeconfig(home), share, host)
}

/** The kubeconfig that a cluster has written for itself. */
export async function readOwnKubeconfig(place: ClusterPlace): Promise<KubeconfigEdit> {
  const path = ownKubeconfig(place)
  return KubeconfigEdit.parse(await readFile(path, 'utf8'), path)
}

function copyEntries(from: KubeconfigEdit, to: KubeconfigEdit, part: KubeconfigPart): void {
  for (const name of from.names(part)) to.set(part, name, from.get(part, name) ?? {})
}
