import { compile, isJsonObject, type KubernetesObject } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
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
 * A generated object, changed as `--overrides` says. Fields that its kind does not have are left out. Throws a CliError, in
 * kubectl's words, where that is no patch, or none of a known type.
 */
export function withOverrides(object: KubernetesObject, { overrides, overrideType }: OverrideFlags): KubernetesObject {
  if (overrides === undefined || overrides === '') return object
  const type = overrideTypes.find((each) => each === overrideType)
  if (type === undefined) throw new CliError(`invalid override type: ${overrideType}`)
  const patched = patchedHere(kindOf(object), object, { type, body: parsePatch(overrides, type) })
  const schema = schemaOf(kindOf(patched))
  return schema === undefined ? patched : (compile(schema).decode(patched).value as KubernetesObject)
}

function kindOf({ apiVersion, kind }: KubernetesObject) {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, kind }
}

const noVersionAndKind =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function parsePatch(text: string, type: (typeof overrideTypes)[number]): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (type === 'json' ? Array.isArray(value) : isJsonObject(value)) return value
    if (Array.isArray(value)) throw new CliError(noVersionAndKind)
  } catch (error) {
    // What is no JSON is told below, as what is JSON and no patch is.
    if (error instanceof CliError) throw error
  }
  throw new CliError('Invalid JSON Patch')
}
