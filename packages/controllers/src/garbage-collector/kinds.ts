import { apiVersionOf, type Resource } from '@coracle/api'

/** Finds the resource that a reference by apiVersion and kind is about. */
export class Kinds {
  readonly #resources = new Map<string, Resource>()

  add(resource: Resource): void {
    this.#resources.set(keyOfKind(apiVersionOf(resource), resource.kind), resource)
  }

  remove(resource: Resource): void {
    const key = keyOfKind(apiVersionOf(resource), resource.kind)
    if (this.#resources.get(key)?.plural === resource.plural) this.#resources.delete(key)
  }

  all(): readonly Resource[] {
    return [...this.#resources.values()]
  }

  /** Throws where the API has no such kind; it may come to have it. */
  require(apiVersion: string, kind: string): Resource {
    const resource = this.#resources.get(keyOfKind(apiVersion, kind))
    if (resource === undefined) throw new Error(`there is no kind "${kind}" in "${apiVersion}"`)
    return resource
  }
}

/** Every version of a group shows the same objects, so the group and the kind say it all. */
function keyOfKind(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/')
  return `${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`
}
