import type { KubernetesObject, Resource } from '@coracle/api'

/** A kind for tests that owns gadgets: as many as it asks for. */
export interface Widget extends KubernetesObject {
  readonly spec: { readonly gadgets: number }
  readonly status?: { readonly gadgets: number }
}

export interface Gadget extends KubernetesObject {
  readonly spec?: { readonly color?: string; readonly size?: string; readonly weight?: string }
}

export const widgets: Resource<Widget> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
}

export const gadgets: Resource<Gadget> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
}

/** A widget of namespace `default`. */
export function widget(name: string, count: number, metadata: Partial<Widget['metadata']> = {}): Widget {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { gadgets: count },
  }
}

/** A gadget of namespace `default` that the server names. */
export function gadget(owner: Widget, metadata: Partial<Gadget['metadata']> = {}): Gadget {
  const { name = '', uid = '' } = owner.metadata
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name, uid, controller: true }]
  return {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { namespace: 'default', generateName: `${name}-`, ownerReferences, ...metadata },
  }
}
