import { type CauseClaim, type Pod, shortened } from '@coracle/api'

/** What the scheduler says of why it writes: it has looked for a node for this pod, in the state it had seen. */
export function schedulingCause(component: string, { metadata }: Pod, because: string): CauseClaim {
  const { name = '', namespace = '', uid, resourceVersion } = metadata
  const object = { apiVersion: 'v1', kind: 'Pod', namespace, name, ...(uid === undefined ? {} : { uid }) }
  const revision = Number(resourceVersion)
  const seen = Number.isSafeInteger(revision) && revision > 0 ? [revision] : []
  return { because: shortened(because), reconcile: { controller: component, object, seen } }
}
