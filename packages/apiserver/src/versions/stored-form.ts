import {
  apiVersionOf,
  type CustomForms,
  compile,
  deepEqual,
  type KubernetesObject,
  type ObjectSchema,
  type StoredKind,
} from '@coracle/api'

/**
 * What is stored, as caches hold it: pruned and with defaults as its version has them now, where it may have been stored
 * under another definition, and in the hub's form, unless converting takes time. The very object where that changes nothing.
 */
export function readStored(kind: StoredKind, object: KubernetesObject): KubernetesObject {
  const current = kind.custom === undefined ? object : inPresentSchema(kind.custom, object)
  return kind.custom?.fromStored === undefined ? inHubForm(kind, current) : current
}

function inPresentSchema(custom: CustomForms, object: KubernetesObject): KubernetesObject {
  const schema = custom.schemas[object.apiVersion]
  if (schema === undefined) return object
  const complete = compile(schema).applyDefaults(decoded(custom, schema, object)) as KubernetesObject
  const { metadata } = complete
  // Objects from before there were generations.
  return (metadata.generation ?? 0) === 0 ? { ...complete, metadata: { ...metadata, generation: 1 } } : complete
}

function decoded(custom: CustomForms, schema: ObjectSchema, object: KubernetesObject): unknown {
  const { decode } = compile(schema)
  try {
    return decode(object).value
  } catch {
    return decode(custom.withoutMalformedMetadata(schema, object)).value
  }
}

/**
 * An object of a built-in kind that no server may have written, with defaults, and the very object where that changes nothing. Throws
 * where it is in no version of the kind, or its fields are not what they are there: nobody behind the cache looks out for that.
 */
export function readForeign(kind: StoredKind, object: KubernetesObject): KubernetesObject {
  if (kind.custom !== undefined) return object
  const definition = [kind, ...kind.versions].find((each) => apiVersionOf(each) === object.apiVersion)
  if (definition === undefined)
    throw new TypeError(
      `no kind ${JSON.stringify(object.kind)} is registered for version ${JSON.stringify(object.apiVersion)}`,
    )
  const compiled = compile(definition.schema)
  const { kind: name, version } = definition
  const defaulted = compiled.applyDefaults(compiled.decode(object, { kind: name, version }).value) as KubernetesObject
  const complete = definition.applyDefaults?.(defaulted) ?? defaulted
  return deepEqual(complete, object) ? object : complete
}

/** A version that is not served any more differs in nothing but its name, as far as anybody can still say. */
function inHubForm(kind: StoredKind, object: KubernetesObject): KubernetesObject {
  if (object.apiVersion === apiVersionOf(kind)) return object
  const version = kind.versions.find((each) => apiVersionOf(each) === object.apiVersion)
  const hub = version === undefined ? object : version.toHub(object)
  if (hub instanceof Promise) throw new Error(`converting ${object.apiVersion} of what is stored must not take time`)
  return { ...hub, apiVersion: apiVersionOf(kind), kind: kind.kind }
}
