import type { Event, KubernetesObject, Pod, Resource } from '@coracle/api'
import type { Examined } from '../explanation.ts'
import type { Facts } from '../facts.ts'
import { rulesOf } from '../kinds/index.ts'

export const nowMs = 1_767_225_660_000

export const object = (apiVersion: string, kind: string, parts: object): KubernetesObject =>
  ({
    apiVersion,
    kind,
    ...parts,
    metadata: { name: 'web', namespace: 'default', uid: 'u', ...(parts as Pod).metadata },
  }) as KubernetesObject
export const pod = (status: object, spec: object = {}, metadata: object = {}) =>
  object('v1', 'Pod', { metadata, spec: { containers: [{ name: 'main', image: 'a' }], ...spec }, status })
export const onNode = { nodeName: 'n1' }
export const readyNode = object('v1', 'Node', {
  metadata: { name: 'n1', namespace: undefined },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})
export const condition = (type: string, status: string, reason = '', message = '') => ({
  type,
  status,
  reason,
  message,
})
export const running = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' }

export interface Around {
  /** What was read of each resource; undefined where it could not be. */
  readonly known?: ReadonlyMap<Resource, readonly KubernetesObject[] | undefined>
  readonly events?: readonly Partial<Event>[]
  readonly leads?: readonly Examined[]
}

/** An object with what was read around it: nothing at all unless it is said. */
export function examined(
  subject: KubernetesObject,
  { known = new Map(), events = [], leads = [] }: Around = {},
): Examined {
  const all = (resource: Resource) => known.get(resource)
  const facts = { object: subject, events, causes: [], nowMs, all, some: (resource: Resource) => all(resource) ?? [] }
  return { facts: facts as unknown as Facts, rules: rulesOf(subject), leads }
}
