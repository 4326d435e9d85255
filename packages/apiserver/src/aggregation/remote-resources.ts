import type { IncomingMessage } from 'node:http'
import type { Verb } from '@coracle/api'
import { remoteJson } from './remote-answer.ts'

/** A resource of another server, as discovery shows it. */
export interface RemoteResource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly Verb[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly RemoteSubresource[]
}

export interface RemoteSubresource {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
}

/** An element of an APIResourceList. */
interface ApiResource {
  readonly name?: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  readonly verbs?: readonly Verb[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** Reads what a server says that it serves in a version of a group. Rejects where it does not say so. */
export async function remoteResources(
  answer: IncomingMessage,
  group: string,
  version: string,
): Promise<readonly RemoteResource[]> {
  const { resources } = (await remoteJson(answer)) as { readonly resources?: readonly ApiResource[] }
  return resourcesOf(resources ?? [], group, version)
}

/** Resources with their subresources; one that has only these stands for them, as upstream shows it. */
export function resourcesOf(listed: readonly ApiResource[], group: string, version: string): readonly RemoteResource[] {
  const byName = Map.groupBy(listed, ({ name = '' }) => name.split('/', 1)[0] ?? '')
  return [...byName].map(([plural, all]) => {
    const own = all.find(({ name }) => name === plural)
    const [first] = all
    return {
      group: own?.group ?? group,
      version: own?.version ?? version,
      plural,
      singular: own?.singularName ?? '',
      kind: own?.kind ?? '',
      namespaced: (own ?? first)?.namespaced ?? false,
      verbs: own?.verbs ?? [],
      shortNames: own?.shortNames ?? [],
      categories: own?.categories ?? [],
      subresources: all
        .filter((each) => each !== own)
        .map((each) => ({
          name: (each.name ?? '').slice(plural.length + 1),
          group: each.group ?? group,
          version: each.version ?? version,
          kind: each.kind ?? '',
          verbs: each.verbs ?? [],
        })),
    }
  })
}
