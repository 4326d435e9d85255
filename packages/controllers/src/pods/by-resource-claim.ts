import { claimNamesOfPod, type Pod } from '@coracle/api'
import { type IndexFunction, keyText } from '@coracle/client'

/** The name of the index `podsByResourceClaim`. */
export const resourceClaimIndexName = 'resource claim'

/** Files pods under the resource claims that are known to be theirs, by the claims' keys. */
export const podsByResourceClaim: IndexFunction<Pod> = (pod) =>
  claimNamesOfPod(pod).map((name) => keyText(pod.metadata.namespace, name))
