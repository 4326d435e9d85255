import { isJsonObject, type JsonObject, type Volume } from '@coracle/api'
import type { Description } from './description.ts'
import { describeFields } from './fields.ts'

/** Volumes of a pod; of a template with kubectl's deeper indentation. */
export function describeVolumes(text: Description, volumes: readonly Volume[] = [], indent: '' | '  ' = ''): void {
  if (volumes.length === 0) {
    text.line(0, `${indent}Volumes:\t<none>`)
    return
  }
  text.line(0, `${indent}Volumes:`)
  for (const volume of volumes) {
    text.line(1, `${indent === '' ? '' : ' '}${volume.name}:`)
    describeSource(text, volume)
  }
}

/** What kubectl calls the kinds of volumes people use most. */
const typeTexts: Readonly<Record<string, string>> = {
  emptyDir: "EmptyDir (a temporary directory that shares a pod's lifetime)",
  hostPath: 'HostPath (bare host directory volume)',
  secret: 'Secret (a volume populated by a Secret)',
  configMap: 'ConfigMap (a volume populated by a ConfigMap)',
  projected: 'Projected (a volume that contains injected data from multiple sources)',
  downwardAPI: 'DownwardAPI (a volume populated by information about the pod)',
  persistentVolumeClaim: 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
  nfs: 'NFS (an NFS mount that lasts the lifetime of a pod)',
  ephemeral: 'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)',
}

function describeSource(text: Description, volume: Volume): void {
  const found = Object.entries(volume).find(([key, value]) => key !== 'name' && isJsonObject(value))
  if (found === undefined) {
    text.line(2, '<unknown>')
    return
  }
  const [type, source] = found as [string, JsonObject]
  text.field(2, 'Type', typeTexts[type] ?? type)
  switch (type) {
    case 'emptyDir':
      text.field(2, 'Medium', String(source.medium ?? '')).field(2, 'SizeLimit', String(source.sizeLimit ?? '<unset>'))
      break
    case 'hostPath':
      text.field(2, 'Path', String(source.path ?? '')).field(2, 'HostPathType', String(source.type ?? ''))
      break
    case 'secret':
      text.field(2, 'SecretName', String(source.secretName ?? '')).field(2, 'Optional', source.optional === true)
      break
    case 'configMap':
      text.field(2, 'Name', String(source.name ?? '')).field(2, 'Optional', source.optional === true)
      break
    case 'projected':
      describeProjected(text, listOf(source.sources))
      break
    case 'downwardAPI':
      text.heading(2, 'Items')
      for (const item of listOf(source.items)) text.line(3, `${downwardText(item)} -> ${item.path}`)
      break
    case 'nfs':
      text.field(2, 'Server', String(source.server ?? '')).field(2, 'Path', String(source.path ?? ''))
      text.field(2, 'ReadOnly', source.readOnly === true)
      break
    case 'persistentVolumeClaim':
      text.field(2, 'ClaimName', String(source.claimName ?? '')).field(2, 'ReadOnly', source.readOnly === true)
      break
    default:
      describeFields(text, 2, source)
  }
}

function describeProjected(text: Description, sources: readonly JsonObject[]): void {
  for (const { secret, configMap, downwardAPI, serviceAccountToken } of sources) {
    if (isJsonObject(secret)) {
      text.field(2, 'SecretName', String(secret.name ?? '')).field(2, 'Optional', secret.optional === true)
    } else if (isJsonObject(configMap)) {
      text.field(2, 'ConfigMapName', String(configMap.name ?? '')).field(2, 'Optional', configMap.optional === true)
    } else if (downwardAPI !== undefined) text.field(2, 'DownwardAPI', true)
    else if (isJsonObject(serviceAccountToken)) {
      text.field(2, 'TokenExpirationSeconds', String(serviceAccountToken.expirationSeconds ?? ''))
    }
  }
}

/** What an item of a downward API volume holds: the path of a field, or the name of a resource. */
function downwardText({ fieldRef, resourceFieldRef }: JsonObject): string {
  if (isJsonObject(fieldRef)) return String(fieldRef.fieldPath)
  return isJsonObject(resourceFieldRef) ? String(resourceFieldRef.resource) : ''
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])
