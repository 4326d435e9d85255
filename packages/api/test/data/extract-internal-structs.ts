/**
 * Writes `../../src/internal-structs/data.ts` anew from the Go types of Kubernetes: see README.md beside this file.
 *
 *     node extract-internal-structs.ts kubernetes
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DeclaredTypes, readDeclarations } from './go-source.ts'

interface GoField {
  /** What Go calls it; the name of its type where the members of that stand in its place. */
  readonly name: string
  readonly type: string
  readonly isEmbedded: boolean
  /** The name in JSON, where the struct has one for it. */
  readonly json: string | undefined
  readonly isOmitted: boolean
}

type Types = DeclaredTypes<GoField>

/** The structs that refusals show. */
const shownStructs: readonly string[] = [
  'admissionregistration.AuditAnnotation',
  'batch.PodFailurePolicy',
  'batch.SuccessPolicy',
  'core.ClusterTrustBundleProjection',
  'core.EventSource',
  'core.HostIP',
  'core.NodeAddress',
  'core.NodeConfigSource',
  'core.NodeSelectorTerm',
  'core.ObjectReference',
  'core.PodIP',
  'core.PodResourceClaim',
  'core.PodSpec',
  'core.PodTemplateSpec',
  'core.ScopeSelector',
  'core.SeccompProfile',
  'core.SecurityContext',
  'core.Taint',
  'core.VolumeNodeAffinity',
  'flowcontrol.FlowSchemaSpec',
  'flowcontrol.PriorityLevelConfigurationSpec',
  'metav1.LabelSelector',
  'metav1.OwnerReference',
  'resource.AllocationResult',
  'resource.DeviceAttribute',
  'resource.ResourceClaimSpec',
  'resource.ResourceClaimTemplateSpec',
  'storage.CSINodeDriver',
  'storage.VolumeAttachmentSpec',
]

/** Names of packages in imports where they are not their own. */
const imported: Readonly<Record<string, string>> = { api: 'core' }

/** Structs that write themselves, and what is written for one that is not set. */
const ownForms: Readonly<Record<string, string>> = {
  'metav1.Time': '',
  'metav1.MicroTime': '',
  'metav1.FieldsV1': '',
  'metav1.Duration': ':s',
  'runtime.RawExtension': '',
  'intstr.IntOrString': ':n',
  'resource.Quantity': ':q',
}

/** Fields that stand in the object around that of their struct. */
const ofTheOuter: ReadonlySet<string> = new Set([
  'core.PodSecurityContext.HostNetwork',
  'core.PodSecurityContext.HostPID',
  'core.PodSecurityContext.HostIPC',
  'core.PodSecurityContext.ShareProcessNamespace',
  'core.PodSecurityContext.HostUsers',
])

if (import.meta.main) {
  const [root] = process.argv.slice(2)
  if (root === undefined) throw new Error('usage: node extract-internal-structs.ts kubernetes')
  const internal: Types = { structs: new Map(), others: new Map() }
  for (const name of readdirSync(join(root, 'pkg/apis'))) readTypes(join(root, 'pkg/apis', name), name, internal)
  readTypes(join(root, 'staging/src/k8s.io/apimachinery/pkg/apis/meta/v1'), 'metav1', internal)
  const external = readExternal(join(root, 'staging/src/k8s.io/api'))
  const file = new URL('../../src/internal-structs/data.ts', import.meta.url)
  writeFileSync(file, render(internal, external))
}

/** The names in JSON of fields, by package, struct and field. */
function readExternal(root: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const group of readdirSync(root)) {
    for (const version of ['v1alpha3', 'v1beta1', 'v1beta2', 'v1', 'v2']) {
      const types: Types = { structs: new Map(), others: new Map() }
      readTypes(join(root, group, version), group, types)
      for (const [struct, fields] of types.structs) {
        for (const { name, json } of fields) if (json) names.set(`${struct}.${name}`, json)
      }
    }
  }
  return names
}

function readTypes(folder: string, packageName: string, types: Types): void {
  let files: string[]
  try {
    files = readdirSync(folder).filter((file) => /^types(_\w+)?\.go$/.test(file) && !/_test|swagger/.test(file))
  } catch {
    return
  }
  for (const file of files) readDeclarations(readFileSync(join(folder, file), 'utf8'), packageName, types, fieldsOfLine)
}

function fieldsOfLine(line: string): readonly GoField[] {
  const [, member = '', type = '', tags = ''] = /^(?:(\w+(?:, \w+)*)\s+)?([^\s`]+)(?:\s+`(.*)`)?$/.exec(line) ?? []
  if (type === '') return []
  const [json, ...options] = /json:"([^"]*)"/.exec(tags)?.[1]?.split(',') ?? []
  const isOmitted = options.includes('omitempty')
  const names = member === '' ? [type.split('.').at(-1) ?? type] : member.split(', ')
  return names.map((name) => ({ name, type, isEmbedded: member === '', json, isOmitted }))
}

function qualify(type: string, packageName: string): string {
  const [first = '', second] = type.split('.')
  return second === undefined ? `${packageName}.${type}` : `${imported[first] ?? first}.${second}`
}

/** What `struct-form.ts` reads: all that can be reached from the structs that are shown. */
function render(internal: Types, external: ReadonlyMap<string, string>): string {
  const wanted = [...shownStructs]
  const lines = new Map<string, string>()
  for (const struct of wanted) {
    if (lines.has(struct)) continue
    const fields = internal.structs.get(struct)
    if (fields === undefined) throw new Error(`there is no struct ${struct}`)
    const packageName = struct.slice(0, struct.indexOf('.'))
    const texts = fields.map((field) => {
      const { code, reached } = shape(field, packageName, internal)
      if (reached !== undefined) wanted.push(reached)
      return `${nameOf(struct, field, external)}${code}`
    })
    lines.set(struct, `${struct} ${texts.join(' ')}`)
  }
  return `/** Written by \`../../test/data/extract-internal-structs.ts\` from the types of Kubernetes 1.36: not to be changed by hand. */

/** The structs that refusals show. */
export type ShownStruct =
${shownStructs.map((each) => `  | '${each}'`).join('\n')}

/**
 * Structs with their fields, those of the refusals and what they have in them. A field has its name in Go, and in the API where that is not
 * the same but for its first letter; \`^\`: of the object around. Fields whose structs say their names in JSON have those, and \`?\`
 * where they are omitted. What is there where nothing is set: a null, \`:s\` a text, \`:n\` a number, \`:b\` a false, \`:q\` a quantity,
 * \`:X\` a struct. \`:*X\`: a null, or structs; \`:%X\` a map of structs, \`:m\` of others; \`:&X\`: the fields of a struct.
 */
export const structs = \`
${[...lines.values()].sort().join('\n')}
\`
`
}

function nameOf(
  struct: string,
  { name, json, isEmbedded, isOmitted }: GoField,
  external: ReadonlyMap<string, string>,
): string {
  if (isEmbedded) return name
  if (json !== undefined) return `${json}${isOmitted ? '?' : ''}`
  if (ofTheOuter.has(`${struct}.${name}`)) return `${name}=^${external.get(`core.PodSpec.${name}`)}`
  const own = external.get(`${struct}.${name}`)
  if (own === undefined) console.error(`no name in JSON: ${struct}.${name}`)
  return own === undefined || own === `${name.slice(0, 1).toLowerCase()}${name.slice(1)}` ? name : `${name}=${own}`
}

function shape(field: GoField, packageName: string, types: Types): { code: string; reached?: string } {
  const { type, isEmbedded } = field
  if (type === 'any' || type === 'interface{}') return { code: '' }
  const [, lead = '', bare = ''] = /^(\*|\[\]|map\[[\w.]+\])?(.*)$/.exec(type) ?? []
  if (lead === '[]' && bare === 'byte') return { code: '' }
  const inner = /^(\*|\[\]|map\[)/.test(bare) ? undefined : qualify(bare, packageName)
  const struct = inner !== undefined && types.structs.has(inner) && !(inner in ownForms) ? inner : undefined
  const other = inner === undefined ? undefined : types.others.get(inner)
  if (lead === '' && struct === undefined && other !== undefined) {
    return shape({ ...field, type: other }, inner?.split('.')[0] ?? packageName, types)
  }
  if (struct !== undefined) {
    const mark = isEmbedded ? '&' : lead === '' ? '' : lead.startsWith('map') ? '%' : '*'
    return { code: `:${mark}${struct}`, reached: struct }
  }
  if (lead.startsWith('map')) return { code: ':m' }
  if (lead !== '') return { code: '' }
  if (inner !== undefined && inner in ownForms) return { code: ownForms[inner] ?? '' }
  if (/^(types\.\w+|string)$/.test(bare)) return { code: ':s' }
  if (bare === 'bool') return { code: ':b' }
  if (/^u?int\d*$/.test(bare)) return { code: ':n' }
  throw new Error(`what is ${type}?`)
}
