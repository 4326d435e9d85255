import type { KubernetesObject, Resource } from '@coracle/api'

/** A namespaced kind for tests. */
export interface Widget extends KubernetesObject {
  readonly spec?: { readonly size?: number; readonly node?: string }
  readonly status?: { readonly phase?: string; readonly ready?: number }
}

export const widgets: Resource<Widget> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
}

/** A widget of namespace `default`. */
export function widget(name: string, parts: Partial<Widget> = {}): Widget {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    ...parts,
    metadata: { namespace: 'default', name, ...parts.metadata },
  }
}
