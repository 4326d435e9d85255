import { isJsonObject, type KubernetesObject, parseExactJson } from '@coracle/api'
import { findJsonFault } from '@coracle/api/json-syntax'
import { CliError } from '../../cli-error.ts'
import { heldAsStruct, writtenAsStruct } from '../../manifests/as-struct.ts'
import { schemaOf } from '../../manifests/patch-between.ts'
import { patchedHere } from '../../manifests/patched-here.ts'

/** Flags of commands that make an object which a patch may change before it is created. */
export interface OverrideFlags {
  /** JSON: fields that are to differ, or a JSON patch. */
  readonly overrides?: string
  /** One of `overrideTypes`. */
  readonly overrideType: string
}

const overrideTypes = ['merge', 'strategic', 'json'] as const

/**
 * A generated object, changed as `--overrides` says, as a struct of Go holds it: without fields that its kind does not have. Throws a
 * CliError, in kubectl's words, where that is no patch, none of a known type, or makes something of no known kind.
 */
export function withOverrides(object: KubernetesObject, { overrides, overrideType }: OverrideFlags): KubernetesObject {
  if (overrides === undefined || overrides === '') return object
  const type = overrideTypes.find((each) => each === overrideType)
  if (type === undefined) throw new CliError(`invalid override type: ${overrideType}`)
  const body = parsePatch(overrides, type)
  // A null is a patch that changes nothing.
  const patched = body === null ? object : patchedHere(kindOf(object), object, { type, body })
  const { apiVersion, kind } = patched
  if (schemaOf(kindOf(patched)) === undefined) {
    throw new CliError(
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/scheme/scheme.go:28"`,
    )
  }
  try {
    return writtenAsStruct(heldAsStruct(patched))
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error))
  }
}

function kindOf({ apiVersion, kind }: KubernetesObject) {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, kind }
}

const noVersionAndKind =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function parsePatch(text: string, type: (typeof overrideTypes)[number]): unknown {
  const fault = findJsonFault(text)
  if (type === 'json') {
    if (fault !== undefined) throw new CliError(fault.message)
    return parseExactJson(text)
  }
  const value: unknown = fault === undefined ? parseExactJson(text) : undefined
  if (isJsonObject(value)) return value
  if (type === 'merge') throw new CliError(Array.isArray(value) ? noVersionAndKind : 'Invalid JSON Patch')
  if (value === null) return null
  throw new CliError('invalid JSON document')
}
