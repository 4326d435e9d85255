/** The container manifest of v1beta1, which became the pod spec. The rules are those of upstream's own conversion. */
import { requiredField, unsupportedField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import {
  flag,
  ignored,
  integer,
  integerOrText,
  listOf,
  mapOf,
  mapped,
  objectOf,
  present,
  type Reader,
  type Report,
  text,
} from './reading.ts'

type Json = Readonly<Record<string, unknown>>

const port = mapped(
  objectOf({ name: text, hostPort: integer, containerPort: integer, protocol: text, hostIP: text }),
  ({ protocol, ...rest }) => present({ ...rest, protocol: protocol?.toUpperCase() }),
)

/** The downward API was young: its last v1beta1 said `fieldPath` where v1 says `fieldRef`. Either will do. */
const fieldRef = mapped(objectOf({ apiVersion: ignored, fieldPath: text }), present)
const envSource = mapped(objectOf({ fieldPath: fieldRef, fieldRef }), (read) =>
  present({ fieldRef: read.fieldRef ?? read.fieldPath }),
)

const envVar = mapped(
  objectOf({ name: text, key: text, value: text, valueFrom: envSource }),
  ({ name, key, value, valueFrom }) => present({ name: name ?? key, value, valueFrom }),
)

const volumeMount = mapped(
  objectOf({ name: text, readOnly: flag, mountPath: text, path: text, mountType: ignored }),
  ({ name, readOnly, mountPath, path }) => present({ name, readOnly, mountPath: mountPath ?? path }),
)

const exec = mapped(objectOf({ command: listOf(text) }), present)
const httpGet = mapped(objectOf({ path: text, port: integerOrText, host: text }), present)
const tcpSocket = mapped(objectOf({ port: integerOrText, host: text }), present)

const probe = mapped(
  objectOf({
    type: ignored,
    exec,
    httpGet,
    tcpSocket,
    initialDelaySeconds: integer,
    timeoutSeconds: integer,
  }),
  present,
)

const handler = mapped(objectOf({ exec, httpGet }), present)
const lifecycle = mapped(objectOf({ postStart: handler, preStop: handler }), present)

const amount = mapped(integerOrText, (value) => String(value))
const resources = mapped(objectOf({ limits: mapOf(amount), requests: mapOf(amount) }), present)

/** `PullAlways` and the like; the words of v1 will do as well. */
const pullPolicy: Reader<string> = mapped(text, (policy) => policy.replace(/^Pull(?=.)/, ''))

const containerFields = objectOf({
  name: text,
  image: text,
  entrypoint: listOf(text),
  command: listOf(text),
  workingDir: text,
  ports: listOf(port),
  env: listOf(envVar),
  resources,
  cpu: integer,
  memory: integer,
  volumeMounts: listOf(volumeMount),
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle,
  terminationMessagePath: text,
  privileged: flag,
  imagePullPolicy: pullPolicy,
  capabilities: mapped(objectOf({ add: listOf(text), drop: listOf(text) }), present),
})

const container = mapped(containerFields, (read, path, report) => {
  const { entrypoint, command, cpu, memory, privileged, capabilities, ...same } = read
  requireFields(read, ['name', 'image'], path, report)
  const converted = present({
    ...same,
    // What an image runs was the entrypoint then, and the command its arguments.
    command: entrypoint,
    args: command,
    resources: withLimits(same.resources, cpu, memory),
    securityContext: present({ privileged, capabilities }),
  })
  return converted ?? {}
})

/** The older `cpu` (thousandths) and `memory` (bytes) are limits. 0 is none. */
function withLimits(read: Json | undefined, cpu: number | undefined, memory: number | undefined): Json | undefined {
  const older = present({ cpu: cpu ? `${cpu}m` : undefined, memory: memory ? String(memory) : undefined })
  if (older === undefined) return read
  return { ...read, limits: { ...older, ...(read?.limits as Json | undefined) } }
}

const volumeSource = mapped(
  objectOf({
    emptyDir: mapped(objectOf({ medium: text }), ({ medium }) => (medium === undefined ? {} : { medium })),
    hostDir: mapped(objectOf({ path: text }), present),
    persistentDisk: mapped(objectOf({ pdName: text, fsType: text, partition: integer, readOnly: flag }), present),
    gitRepo: mapped(objectOf({ repository: text, revision: text }), present),
    secret: mapped(objectOf({ target: objectOf({ kind: ignored, namespace: ignored, name: text }) }), ({ target }) =>
      present({ secretName: target?.name }),
    ),
    nfs: mapped(objectOf({ server: text, path: text, readOnly: flag }), present),
    glusterfs: mapped(objectOf({ endpoints: text, path: text, readOnly: flag }), present),
  }),
  ({ hostDir, persistentDisk, ...same }) => present({ ...same, hostPath: hostDir, gcePersistentDisk: persistentDisk }),
)

const volume = mapped(objectOf({ name: text, source: volumeSource }), ({ name, source }, path, report) => {
  if (name === undefined || name === '') report(requiredField(path.field('name')))
  // Without a source a volume was an empty directory.
  return present({ name, ...(source ?? { emptyDir: {} }) })
})

/** `{always: {}}`; the word alone will do as well. */
const restartPolicy: Reader<string> = (value, path, report) => {
  if (typeof value === 'string') return value
  const read = objectOf({ always: mapOf(ignored), onFailure: mapOf(ignored), never: mapOf(ignored) })(
    value,
    path,
    report,
  )
  if (read?.never !== undefined) return 'Never'
  return read?.onFailure === undefined ? 'Always' : 'OnFailure'
}

const manifestVersions = ['v1beta1', 'v1beta2']

const manifestVersion: Reader<string> = mapped(text, (version, path, report) => {
  if (!manifestVersions.includes(version.toLowerCase())) report(unsupportedField(path, version, manifestVersions))
  return version
})

/** Reads a container manifest as the pod spec of v1. */
export const manifest: Reader<Json> = mapped(
  objectOf({
    version: manifestVersion,
    // Pods of a controller get names and identities of their own.
    id: text,
    uuid: text,
    volumes: listOf(volume),
    containers: listOf(container),
    restartPolicy,
    dnsPolicy: text,
    hostNetwork: flag,
  }),
  ({ version: _version, id: _id, uuid: _uuid, ...spec }, path, report) => {
    if ((spec.containers ?? []).length === 0) report(requiredField(path.field('containers')))
    return present(spec)
  },
)

function requireFields(read: Json, names: readonly string[], path: FieldPath, report: Report): void {
  for (const name of names) {
    if (read[name] === undefined || read[name] === '') report(requiredField(path.field(name)))
  }
}
