import {
  addErrors,
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { structValue } from '../../../../internal-structs/struct-value.ts'
import type { ObjectMeta } from '../../../../meta.ts'
import { validateAnnotations, validateLabels } from '../../../../object-meta-validation.ts'
import { compareQuantity, isQuantity } from '../../../../quantity.ts'
import { compile } from '../../../../schema/compile.ts'
import { checkFormat } from '../../../../string-formats.ts'
import { validateClaimSpec } from '../../persistent-volume-claim/claim-spec-validation.ts'
import type { DownwardApiVolumeFile, KeyToPath, ProjectedVolumeSource, VolumeProjection } from '../projection.ts'
import { type Volume, volume, volumeSourceNames } from '../volume.ts'
import {
  checkFileMode,
  checkLabelSelector,
  checkLocalNonReservedPath,
  checkLocalPath,
  checkNoBacksteps,
  checkRange,
  checkText,
} from './checks.ts'
import { validateFieldRef, validateResourceFieldRef } from './env.ts'

/** What is wrong with the volumes of a pod, beyond their schema, and those that nothing is wrong with. */
export interface JudgedVolumes {
  readonly errors: readonly FieldError[]
  /** Containers can mount no others, as upstream. */
  readonly good: readonly Volume[]
}

/** Volumes of a pod: names, and exactly one source each (ValidateVolumes). A name is taken by a volume that nothing else is wrong with. */
export function judgeVolumes(volumes: readonly Volume[] = [], path: FieldPath): JudgedVolumes {
  const errors: FieldError[] = []
  const good = new Map<string, Volume>()
  for (const [index, each] of volumes.entries()) {
    const own = validateVolume(each, path.index(index))
    if (good.has(each.name)) own.push(duplicateField(path.index(index).field('name'), each.name))
    if (own.length > 0) addErrors(errors, own)
    else if (compile(volume).validate(each).length === 0) good.set(each.name, each)
  }
  return { errors, good: [...good.values()] }
}

type Sources = Required<Omit<Volume, 'name'>>
/** The sources that a volume of a pod can have, by field. */
export type VolumeSourceName = keyof Sources
/** The same in pods and in PersistentVolumes, but for what a secret is named by. */
type IscsiSource = Omit<NonNullable<Sources['iscsi']>, 'secretRef'> & { readonly secretRef?: unknown }

type SourceChecks = {
  readonly [K in VolumeSourceName]?: (source: NonNullable<Sources[K]>, path: FieldPath) => FieldError[]
}

function validateVolume(volume: Volume, path: FieldPath): FieldError[] {
  const [first, ...others] = volumeSourceNames.filter((name) => volume[name] !== undefined)
  if (first === undefined) return [requiredField(path, 'must specify a volume type')]
  return [
    ...validateVolumeSource(first, volume[first], path.field(fieldOf[first] ?? first)),
    ...(initiatorIsTooLong(volume.iscsi, volume.name)
      ? [invalidField(path.field('name'), volume.name, initiatorTooLong)]
      : []),
    ...others.map((name) =>
      forbiddenField(path.field(surplusSourceField(name)), 'may not specify more than 1 volume type'),
    ),
  ]
}

/** What upstream calls a source that is one too many: two of them it writes otherwise than their fields. */
export function surplusSourceField(name: string): string {
  if (name === 'cephfs') return 'cephFS'
  return name === 'downwardAPI' ? 'downwarAPI' : name
}

/** Sources that upstream calls otherwise in its messages. */
const fieldOf: { readonly [K in VolumeSourceName]?: string } = { gcePersistentDisk: 'persistentDisk' }

/** What is wrong with one source, beyond the fields that it must have. */
export function validateVolumeSource(name: VolumeSourceName, source: unknown, path: FieldPath): FieldError[] {
  const check = sourceChecks[name] as ((source: unknown, path: FieldPath) => FieldError[]) | undefined
  return check?.(source, path) ?? []
}

/** `Required value` where there is none. */
export const requireText = (value: string | undefined, path: FieldPath): FieldError[] =>
  value ? [] : [requiredField(path)]

/** What is checked of each source beyond its required fields. */
const sourceChecks: SourceChecks = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && isQuantity(sizeLimit) && compareQuantity(sizeLimit, '0') < 0
      ? [forbiddenField(path.field('sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: (source, path) => (source.path ? checkNoBacksteps(source.path, path.field('path')) : []),
  gitRepo: ({ directory }, path) => (directory ? checkLocalPath(directory, path.field('directory')) : []),
  gcePersistentDisk: ({ pdName, partition }, path) => [
    ...requireText(pdName, path.field('pdName')),
    ...partitionErrors(partition, path),
  ],
  awsElasticBlockStore: ({ partition }, path) => partitionErrors(partition, path),
  secret: (source, path) => [
    ...requireText(source.secretName, path.field('secretName')),
    ...checkFileMode(source.defaultMode, path.field('defaultMode')),
    ...validateItems(source.items, path.field('items')),
  ],
  configMap: (source, path) => [
    ...requireText(source.name, path.field('name')),
    ...checkFileMode(source.defaultMode, path.field('defaultMode')),
    ...validateItems(source.items, path.field('items')),
  ],
  nfs: (source, path) =>
    source.path?.startsWith('/')
      ? []
      : [invalidField(path.field('path'), source.path ?? '', 'must be an absolute path')],
  iscsi: (source, path) => iscsiErrors(source, path, ' starting with iqn, eui, or naa'),
  flocker: ({ datasetName, datasetUUID }, path) => {
    if (!datasetName && !datasetUUID) return [requiredField(path, 'one of datasetName and datasetUUID is required')]
    const both = 'datasetName and datasetUUID can not be specified simultaneously'
    const errors = datasetName && datasetUUID ? [invalidField(path, 'resource', both)] : []
    if (!datasetName?.includes('/')) return errors
    return [...errors, invalidField(path.field('datasetName'), datasetName, "must not contain '/'")]
  },
  cinder: ({ secretRef }, path) => requireSecretName(secretRef, path),
  quobyte: ({ registry, tenant = '' }, path) => quobyteErrors(registry, tenant, path),
  azureDisk: ({ kind, diskURI = '' }, path) => diskUriErrors(kind, diskURI, path.field('diskURI')),
  rbd: ({ monitors }, path) => emptyMonitors(monitors, path),
  cephfs: ({ monitors }, path) => emptyMonitors(monitors, path),
  downwardAPI: (source, path) => [
    ...checkFileMode(source.defaultMode, path.field('defaultMode')),
    // Upstream leaves the index out of these paths.
    ...(source.items ?? []).flatMap((file) => validateFile(file, path)),
  ],
  fc: validateFibreChannel,
  flexVolume: ({ options = {} }, path) =>
    Object.keys(options).flatMap((key) => {
      const domain = `.${(key.split('/')[0] ?? '').toLowerCase()}`
      if (!domain.endsWith('.kubernetes.io') && !domain.endsWith('.k8s.io')) return []
      return [invalidField(path.field('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved')]
    }),
  scaleIO: ({ volumeName }, path) => requireText(volumeName, path.field('volumeName')),
  storageos: ({ volumeName, volumeNamespace, secretRef }, path) => [
    ...requireText(volumeName, path.field('volumeName')),
    ...checkText('dns1123-label', volumeName, path.field('volumeName')),
    ...checkText('dns1123-label', volumeNamespace, path.field('volumeNamespace')),
    ...requireSecretName(secretRef, path),
  ],
  projected: validateProjected,
  csi: ({ driver, nodePublishSecretRef }, path) => [
    ...validateDriverName(driver ?? '', path.field('driver')),
    ...(nodePublishSecretRef === undefined
      ? []
      : requireText(nodePublishSecretRef.name, path.field('nodePublishSecretRef').field('name'))),
    // Upstream names the secret's field beside the secret, not in it.
    ...checkText('dns1123-subdomain', nodePublishSecretRef?.name, path.field('name')),
  ],
  ephemeral: ({ volumeClaimTemplate: template }, path) => {
    const at = path.field('volumeClaimTemplate')
    if (template === undefined) return [requiredField(at)]
    return [
      ...templateMetadataErrors(template.metadata, at.field('metadata')),
      ...validateClaimSpec(template.spec ?? {}, at.field('spec')),
    ]
  },
  image: ({ reference }, path) => requireText(reference, path.field('reference')),
}

/** Metadata that a claim made from a template cannot get from it, in the order of Go's struct, by the names of its fields. */
const fixedMetadata = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const

/** Labels and annotations are all that a template gives (ValidateTemplateObjectMeta). */
export function templateMetadataErrors(metadata: ObjectMeta | undefined, path: FieldPath): FieldError[] {
  if (metadata === undefined) return []
  return [
    ...validateAnnotations(metadata.annotations, path.field('annotations')),
    ...validateLabels(metadata.labels, path.field('labels')),
    ...fixedMetadata
      .filter((name) => metadata[name] !== undefined)
      .map((name) => forbiddenField(path.field(name === 'uid' ? 'uID' : name), 'cannot be set')),
  ]
}

/** `Required value` where a secret is named, and not by its name. */
export function requireSecretName(
  secret: { readonly name?: string | undefined } | undefined,
  path: FieldPath,
): FieldError[] {
  return secret === undefined ? [] : requireText(secret.name, path.field('secretRef').field('name'))
}

/** What names of iSCSI targets and initiators look like, by what they start with: RFC 3720, section 3.2.6. */
const iscsiNames: Readonly<Record<string, (name: string) => boolean>> = {
  iqn: endsWithIqn,
  eui: (name) => /^eui.[A-Za-z0-9]{16}$/.test(name),
  naa: (name) => /^naa.[A-Za-z0-9]{32}$/.test(name),
}

/**
 * Whether a name ends with `iqn.2001-04.com.example:storage`, of which the part after the colon has none of the characters that commands
 * take for something else. In two passes: one pattern for all would read the rest of the name at each place where it could begin.
 */
function endsWithIqn(name: string): boolean {
  const lastForbidden = name.search(/[,;*&$|\s][^,;*&$|\s]*$/)
  return name.matchAll(/iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+/g).some(({ 0: { length }, index }) => {
    const colon = index + length
    return name[colon] === ':' && colon > lastForbidden && colon < name.length - 1
  })
}

/** What is wrong with an iSCSI source. `hint` follows what is said of a name that begins like none: volumes of pods have one. */
export function iscsiErrors(source: IscsiSource, path: FieldPath, hint: string): FieldError[] {
  const nameErrors = (name: string, at: FieldPath): FieldError[] => {
    const form = iscsiNames[name.slice(0, 3)]
    if (form === undefined) return [invalidField(at, name, `must be valid format${hint}`)]
    return form(name) ? [] : [invalidField(at, name, 'must be valid format')]
  }
  return [
    ...(source.iqn ? nameErrors(source.iqn, path.field('iqn')) : []),
    ...checkRange(source.lun, 0, 255, path.field('lun')),
    ...((source.chapAuthDiscovery || source.chapAuthSession) && source.secretRef === undefined
      ? [requiredField(path.field('secretRef'))]
      : []),
    ...(source.initiatorName === undefined ? [] : nameErrors(source.initiatorName, path.field('initiatorname'))),
  ]
}

const initiatorLengthMax = 64
export const initiatorTooLong =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'

/** Whether the name of a volume and its portal are too long to make the name of an interface. */
export function initiatorIsTooLong(
  iscsi: { readonly initiatorName?: string | undefined; readonly targetPortal: string } | undefined,
  name: string,
): boolean {
  if (iscsi?.initiatorName === undefined) return false
  return Buffer.byteLength(`${name}:${iscsi.targetPortal}`) > initiatorLengthMax
}

const quobyteTenantMax = 64

function quobyteErrors(registry: string, tenant: string, path: FieldPath): FieldError[] {
  const rule = 'must be a host:port pair or multiple pairs separated by commas'
  if (registry === '') return [requiredField(path.field('registry'), rule)]
  if (tenant.length > quobyteTenantMax) {
    return [requiredField(path.field('tenant'), 'must be a UUID and may not exceed a length of 64 characters')]
  }
  const wrong = registry.split(',').filter((pair) => !/^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair))
  return wrong.map(() => invalidField(path.field('registry'), registry, rule))
}

const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

/** A managed disk is a resource of Azure, any other a blob. */
function diskUriErrors(kind: string | undefined, uri: string, path: FieldPath): FieldError[] {
  if (kind === 'Managed') return uri.startsWith('/subscriptions/') ? [] : [unsupportedField(path, uri, [managedDisk])]
  return uri.startsWith('https://') ? [] : [unsupportedField(path, uri, [blobDisk])]
}

const driverNameMax = 63

/** What is wrong with the name of a CSI driver (ValidateCSIDriverName), besides that there is none. */
export function validateDriverName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return []
  const errors = name.length > driverNameMax ? [tooLongField(path, driverNameMax)] : []
  const problems = checkFormat('dns1123-subdomain', name.toLowerCase())
  return [...errors, ...problems.map((problem) => invalidField(path, name, problem))]
}

/** Zero is the whole disk. */
const partitionErrors = (partition: number | undefined, path: FieldPath): FieldError[] =>
  partition === 0 ? [] : checkRange(partition, 1, 255, path.field('partition'))

const emptyMonitors = (monitors: readonly string[] | undefined, path: FieldPath): FieldError[] =>
  monitors?.length === 0 ? [requiredField(path.field('monitors'))] : []

function validateFibreChannel(source: NonNullable<Sources['fc']>, path: FieldPath): FieldError[] {
  const { targetWWNs = [], wwids = [], lun } = source
  const targets = path.field('targetWWNs')
  const errors: FieldError[] = []
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(requiredField(targets, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.push(invalidField(targets, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'))
  }
  if (targetWWNs.length === 0) return errors
  if (lun === undefined)
    return [...errors, requiredField(path.field('lun'), 'lun is required if targetWWNs is specified')]
  return [...errors, ...checkRange(lun, 0, 255, path.field('lun'))]
}

const validateItems = (items: readonly KeyToPath[] | undefined, path: FieldPath): FieldError[] =>
  (items ?? []).flatMap((item, index) => [
    ...(item.path ? checkLocalNonReservedPath(item.path, path.index(index).field('path')) : []),
    ...checkFileMode(item.mode, path.index(index).field('mode')),
  ])

const fileFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']

function validateFile(file: DownwardApiVolumeFile, path: FieldPath): FieldError[] {
  const { fieldRef, resourceFieldRef } = file
  const errors = file.path
    ? checkLocalNonReservedPath(file.path, path.field('path'))
    : [requiredField(path.field('path'))]
  if (fieldRef) errors.push(...validateFieldRef(fieldRef, fileFields, path.field('fieldRef')))
  else if (resourceFieldRef)
    errors.push(...validateResourceFieldRef(resourceFieldRef, path.field('resourceFieldRef'), 'file'))
  else errors.push(requiredField(path, 'one of fieldRef and resourceFieldRef is required'))
  if (fieldRef && resourceFieldRef) {
    errors.push(invalidField(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  }
  return [...errors, ...checkFileMode(file.mode, path.field('mode'))]
}

function validateProjected(source: ProjectedVolumeSource, path: FieldPath): FieldError[] {
  const sources = source.sources ?? []
  return [
    ...checkFileMode(source.defaultMode, path.field('defaultMode')),
    ...sources.flatMap((each, index) => validateProjection(each, path, path.field('sources').index(index))),
    ...conflictingPaths(sources, path),
  ]
}

function validateProjection(each: VolumeProjection, volumePath: FieldPath, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { secret, configMap, downwardAPI } = each
  if (secret) addErrors(errors, validateKeys(secret, path.field('secret')))
  if (configMap) addErrors(errors, validateKeys(configMap, path.field('configMap')))
  for (const file of downwardAPI?.items ?? []) addErrors(errors, validateFile(file, path.field('downwardAPI')))
  addErrors(errors, validateToken(each, volumePath, path))
  addErrors(errors, validateTrustBundle(each, path))
  const count = Object.values(each).filter((value) => value !== undefined).length
  if (count > 1) errors.push(forbiddenField(path, 'may not specify more than 1 volume type per source'))
  return errors
}

const validateKeys = (
  source: { readonly name?: string | undefined; readonly items?: readonly KeyToPath[] | undefined },
  path: FieldPath,
): FieldError[] => [
  ...requireText(source.name, path.field('name')),
  ...validateItems(source.items, path.field('items')),
]

const tokenExpirationSecondsMin = 600
const tokenExpirationSecondsMax = 2 ** 32

function validateToken(
  { serviceAccountToken: token }: VolumeProjection,
  volumePath: FieldPath,
  path: FieldPath,
): FieldError[] {
  if (token === undefined) return []
  const { expirationSeconds = tokenExpirationSecondsMin } = token
  const expirationPath = path.field('serviceAccountToken').field('expirationSeconds')
  const errors: FieldError[] = []
  if (expirationSeconds < tokenExpirationSecondsMin) {
    errors.push(invalidField(expirationPath, expirationSeconds, 'may not specify a duration less than 10 minutes'))
  }
  if (expirationSeconds > tokenExpirationSecondsMax) {
    errors.push(invalidField(expirationPath, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  if (token.path === '') errors.push(requiredField(volumePath.field('path')))
  else errors.push(...checkLocalNonReservedPath(token.path, volumePath.field('path')))
  return errors
}

function validateTrustBundle({ clusterTrustBundle: bundle }: VolumeProjection, path: FieldPath): FieldError[] {
  if (bundle === undefined) return []
  const bundlePath = path.field('clusterTrustBundle')
  const errors = bundle.path ? checkLocalNonReservedPath(bundle.path, bundlePath.field('path')) : []
  if (bundle.name !== undefined && bundle.signerName !== undefined) {
    errors.push(
      invalidField(
        bundlePath,
        structValue('core.ClusterTrustBundleProjection', bundle),
        'only one of name and signerName may be used',
      ),
    )
  } else if (bundle.name === undefined && bundle.signerName === undefined) {
    errors.push(requiredField(bundlePath, 'either name or signerName must be specified'))
  }
  return [...errors, ...checkLabelSelector(bundle.labelSelector, bundlePath.field('labelSelector'))]
}

/** Two sources must not make the same file. */
function conflictingPaths(sources: readonly VolumeProjection[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return sources.flatMap(projectedFiles).flatMap(({ file, owner }) => {
    if (!seen.has(file)) {
      seen.add(file)
      return []
    }
    return [invalidField(path, owner ?? file, 'conflicting duplicate paths')]
  })
}

interface ProjectedFile {
  readonly file: string
  /** The Secret or ConfigMap it comes from. */
  readonly owner?: string | undefined
}

function projectedFiles({
  secret,
  configMap,
  downwardAPI,
  clusterTrustBundle,
}: VolumeProjection): readonly ProjectedFile[] {
  const files: ProjectedFile[] = [
    ...(secret?.items ?? []).map((item) => ({ file: item.path, owner: secret?.name })),
    ...(configMap?.items ?? []).map((item) => ({ file: item.path, owner: configMap?.name })),
    ...(downwardAPI?.items ?? []).map((item) => ({ file: item.path })),
    ...(clusterTrustBundle === undefined ? [] : [{ file: clusterTrustBundle.path }]),
  ]
  return files.filter(({ file }) => Boolean(file))
}
