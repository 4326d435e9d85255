/** Objects of built-in kinds as upstream's JSON has them, see `schema/go/nulls.ts`. Those of other kinds are as they are. */
import type { KubernetesObject } from '../meta.ts'
import { apiVersionOf } from '../resource.ts'
import { withNulls, withoutNulls } from '../schema/go/nulls.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { builtinKinds, builtinResources, unstoredResources } from './builtin-kinds.ts'

/** By apiVersion and kind. */
const schemas: ReadonlyMap<string, ObjectSchema> = new Map(
  [...builtinKinds, ...builtinResources, ...unstoredResources].map((definition) => [
    keyOf({ apiVersion: apiVersionOf(definition), kind: definition.kind }),
    definition.schema,
  ]),
)

/** The value whose JSON is that of the object. The object itself where there is no null in it. */
export function jsonFormOf<T extends KubernetesObject>(object: T): T {
  const schema = schemas.get(keyOf(object))
  return schema === undefined ? object : (withNulls(schema, object) as T)
}

/** The object of the value that its JSON stands for: the reverse of `jsonFormOf`. */
export function ofJsonForm<T extends KubernetesObject>(object: T): T {
  const schema = schemas.get(keyOf(object))
  return schema === undefined ? object : (withoutNulls(schema, object) as T)
}

function keyOf({ apiVersion, kind }: Pick<KubernetesObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}
