import { apiVersionOf, builtinResources, type KubernetesObject, type Schema } from '@coracle/api'
import { decodedAsStruct, withZeros, writtenByGo } from '@coracle/api/go-structs'

/**
 * kubectl holds objects of built-in kinds in structs of Go for some of its commands. What is no such kind stays as it is in all of these
 * functions.
 */
const schemaFor = ({ apiVersion, kind }: KubernetesObject): Schema<KubernetesObject> | undefined =>
  builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)?.schema as
    | Schema<KubernetesObject>
    | undefined

/** An object as its struct takes it, without fields that are not of its kind. Throws an Error, in the words of Go, where a value has the wrong type. */
export function heldAsStruct(object: KubernetesObject): KubernetesObject {
  const schema = schemaFor(object)
  return schema === undefined ? object : decodedAsStruct(schema, object)
}

/** An object that a struct has taken, with what is there in any case. */
export function completeAsStruct(object: KubernetesObject): KubernetesObject {
  const schema = schemaFor(object)
  return schema === undefined ? object : withZeros(schema, object)
}

/** An object as its struct is written. */
export function writtenAsStruct(object: KubernetesObject): KubernetesObject {
  const schema = schemaFor(object)
  return schema === undefined ? object : writtenByGo(schema, object)
}
