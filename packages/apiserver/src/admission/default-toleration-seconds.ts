import type { AdmissionPlugin } from './admission.ts'
import { type AdmittedPod, type Toleration, withSpec, writesPod } from './pods.ts'

/** How long a pod stays on a node that is not ready or not reachable, unless it says otherwise. */
const tolerationSeconds = 300

const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/**
 * Gives pods the tolerations that keep them on a failing node for a while. On updates too, as upstream: a client that
 * applies the tolerations it once wrote must not be taken to remove these.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  concerns: writesPod,
  mutate(_attributes, object) {
    const pod = object as AdmittedPod
    const own = pod.spec.tolerations ?? []
    const added = taints
      .filter((key) => !own.some((toleration) => tolerates(toleration, key)))
      .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }))
    return added.length === 0 ? object : withSpec(pod, { tolerations: [...own, ...added] })
  },
}

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}
