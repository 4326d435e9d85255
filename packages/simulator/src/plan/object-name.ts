import type { KubernetesObject } from '@coracle/api'

/** Names an object. */
export interface ObjectName {
  readonly kind: string
  /** Absent for kinds that have none. */
  readonly namespace?: string
  readonly name: string
}

export function objectNameOf({ kind = '', metadata }: KubernetesObject): ObjectName {
  const { namespace, name = '' } = metadata
  return namespace === undefined ? { kind, name } : { kind, namespace, name }
}

/** `Deployment default/web`: unique among objects that are there at one time. */
export const nameText = ({ kind, namespace, name }: ObjectName): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
