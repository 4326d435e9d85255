import { apiVersionOf, type KubernetesObject, type Resource, type ResourceDefinition } from '@coracle/api'
import type { ResourceRegistry } from './registry/resource-registry.ts'

/** The registries of a server, by what names them in paths and in objects. */
export class Registries {
  readonly #byResource = new Map<string, ResourceRegistry>()
  readonly #byKind = new Map<string, ResourceRegistry>()

  /** All of them, in the order they were added. */
  all(): Iterable<ResourceRegistry> {
    return this.#byResource.values()
  }

  add(registry: ResourceRegistry): void {
    const { definition } = registry
    this.#byResource.set(resourceKey(definition.group, definition.version, definition.plural), registry)
    this.#byKind.set(`${apiVersionOf(definition)} ${definition.kind}`, registry)
  }

  /** The registry behind `/apis/<group>/<version>/<plural>`; undefined where there is none. */
  byResource(group: string, version: string, plural: string): ResourceRegistry | undefined {
    return this.#byResource.get(resourceKey(group, version, plural))
  }

  /** The registry of objects with this `apiVersion` and `kind`. */
  byKind(apiVersion: string, kind: string): ResourceRegistry | undefined {
    return this.#byKind.get(`${apiVersion} ${kind}`)
  }

  /** The registry of a resource that a client names. */
  of<T extends KubernetesObject>({ group, version, plural }: Resource<T>): ResourceRegistry | undefined {
    return this.byResource(group, version, plural)
  }

  definitions(): readonly ResourceDefinition[] {
    return [...this.all()].map(({ definition }) => definition)
  }
}

const resourceKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`
