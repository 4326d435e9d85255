import { claimsOfPod, type Pod } from '@coracle/api'
import { type IndexFunction, keyText } from '@coracle/client'

/** The name of the index `podsByClaim`. */
export const claimIndexName = 'claim'

/** Files pods under the claims that they use, by the claims' keys. */
export const podsByClaim: IndexFunction<Pod> = (pod) =>
  claimsOfPod(pod).map((name) => keyText(pod.metadata.namespace, name))
