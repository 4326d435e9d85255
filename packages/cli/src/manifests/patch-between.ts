import {
  builtinResources,
  createJsonMergePatch,
  createTwoWayPatch,
  isJsonObject,
  type JsonObject,
  type KubernetesObject,
  type Resource,
  type Schema,
} from '@coracle/api'
import type { Patch } from '@coracle/client'

/** What makes the second of the first: strategic for kinds whose lists we know how to merge, or else a merge patch. */
export function patchBetween(resource: Resource, from: KubernetesObject, to: KubernetesObject): Patch {
  const schema = schemaOf(resource)
  const [before, after] = [from, to].map((object) => object as unknown as JsonObject) as [JsonObject, JsonObject]
  return schema === undefined
    ? { type: 'merge', body: createJsonMergePatch(before, after) }
    : { type: 'strategic', body: createTwoWayPatch(schema, before, after) }
}

/** The schema of a kind that is built in; undefined for custom ones, whose lists are replaced whole. */
export function schemaOf({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>): Schema | undefined {
  return builtinResources.find((each) => each.group === group && each.version === version && each.kind === kind)?.schema
}

/** Whether a patch would change nothing. */
export const isEmptyPatch = ({ body }: Patch): boolean => isJsonObject(body) && Object.keys(body).length === 0
