import {
  atomicList,
  boolean,
  enumOf,
  int32,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { envFromSource, envVar } from './env.ts'
import { keyedList } from './lists.ts'
import { lifecycle, probe } from './probe.ts'
import { containerResizePolicy, containerRestartRule, resourceRequirements, resourcesWithout } from './resources.ts'
import { securityContext } from './security.ts'

/** Where a container leaves its last words unless it says otherwise. */
export const terminationMessagePathDefault = '/dev/termination-log'

export interface ContainerPort extends Infer<typeof containerPort> {}
export const containerPort = object(
  `${coreV1}.ContainerPort`,
  'A port that a container listens on.',
  {
    name: optional(string(), 'Name by which services and probes refer to the port, unique in the pod.'),
    containerPort: required(int32(), 'The port on the pod’s IP, from 1 to 65535.'),
    protocol: optional(enumOf('SCTP', 'TCP', 'UDP'), 'Protocol spoken there.', { default: 'TCP' }),
    hostPort: optional(int32(), 'Port of the node that leads to it. Few pods need one.'),
    hostIP: optional(string(), 'Address of the node the host port is bound to.'),
  },
  { checkedOrder: ['name', 'containerPort', 'hostPort', 'protocol', 'hostIP'] },
)

export interface VolumeMount extends Infer<typeof volumeMount> {}
export const volumeMount = object(`${coreV1}.VolumeMount`, 'Where a container sees a volume.', {
  name: required(string(), 'Name of the volume.', { default: '' }),
  mountPath: required(string(), 'Path in the container. It must not contain a colon.', { default: '' }),
  readOnly: optional(boolean, 'Mount it read-only.'),
  recursiveReadOnly: pointer(
    literal<'Disabled' | 'Enabled' | 'IfPossible'>(),
    'Whether mounts below a read-only mount are read-only too.',
  ),
  subPath: optional(string(), "Path in the volume to mount instead of the volume's root."),
  subPathExpr: optional(string(), 'Like subPath, with $(NAME) standing for variables of the container.'),
  mountPropagation: pointer(
    literal<'Bidirectional' | 'HostToContainer' | 'None'>(),
    'Whether mounts made later on one side show on the other. None unless set.',
  ),
})

export interface VolumeDevice extends Infer<typeof volumeDevice> {}
export const volumeDevice = object(`${coreV1}.VolumeDevice`, 'Where a container sees a volume as a raw block device.', {
  name: required(string(), 'Name of a volume that comes from a claim.', { default: '' }),
  devicePath: required(string(), 'Path of the device in the container.', { default: '' }),
})

/** What every sort of container has. */
const containerFields = {
  name: required(string({ format: 'dns1123-label' }), 'Name, unique in the pod. It cannot be changed.'),
  image: optional(string(), 'Image to run. It may be left out where a higher-level kind fills it in.'),
  command: optional(
    atomicList(string()),
    "Command to run instead of the image's entry point. $(NAME) stands for variables of the container.",
  ),
  args: optional(
    atomicList(string()),
    "Arguments instead of the image's. $(NAME) stands for variables of the container.",
  ),
  workingDir: optional(string(), "Directory the command runs in instead of the image's."),
  ports: optional(
    keyedList(containerPort, ['containerPort', 'protocol']),
    'Ports the container listens on. Leaving one out does not close it.',
  ),
  envFrom: optional(
    atomicList(envFromSource),
    'Sources of many variables at once. Later ones win over earlier ones, and env over all.',
  ),
  env: optional(keyedList(envVar, ['name']), 'Environment variables.'),
  resources: optional(resourceRequirements, 'What the container needs and may use.', { default: {} }),
  resizePolicy: optional(
    atomicList(containerResizePolicy),
    'What changes of its resources do to the running container.',
  ),
  restartPolicy: pointer(
    literal<'Always' | 'Never' | 'OnFailure'>(),
    "When the container restarts, unlike the pod's policy. Always makes an init container a sidecar.",
  ),
  restartPolicyRules: optional(
    atomicList(containerRestartRule),
    'Rules that decide about a restart before restartPolicy does; the first that matches counts.',
  ),
  volumeMounts: optional(keyedList(volumeMount, ['mountPath']), 'Volumes mounted into the file system.'),
  volumeDevices: optional(keyedList(volumeDevice, ['devicePath']), 'Volumes used as raw block devices.'),
  livenessProbe: optional(probe, 'The container is restarted when this check fails.'),
  readinessProbe: optional(probe, 'The container gets no traffic from services while this check fails.'),
  startupProbe: optional(
    probe,
    'No other check runs until this one succeeds; the container is restarted when it fails.',
  ),
  lifecycle: optional(lifecycle, 'What to do after its start and before its end.'),
  terminationMessagePath: optional(
    string(),
    'File that the container’s last words are read from, at most 4096 bytes of them.',
    { default: terminationMessagePathDefault },
  ),
  terminationMessagePolicy: optional(
    enumOf('File', 'FallbackToLogsOnError'),
    'Where last words come from: the file, or the end of the log where it failed and the file is empty.',
    { default: 'File' },
  ),
  imagePullPolicy: optional(
    enumOf('Always', 'IfNotPresent', 'Never'),
    'When the image is pulled. Always where its tag is latest or missing, else IfNotPresent.',
  ),
  securityContext: optional(securityContext, 'Rights the container runs with.'),
  stdin: optional(boolean, 'Keep a buffer for standard input.'),
  stdinOnce: optional(boolean, 'Close standard input after the first client has detached.'),
  tty: optional(boolean, 'Give the container a terminal. Needs stdin.'),
} as const

const checkedOrder = [
  'name',
  'image',
  'terminationMessagePolicy',
  'ports',
  'env',
  'envFrom',
  'volumeMounts',
  'volumeDevices',
  'imagePullPolicy',
  'resources',
  'resizePolicy',
  'securityContext',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'restartPolicy',
  'restartPolicyRules',
]

export interface Container extends Infer<typeof container> {}
export const container = object(
  `${coreV1}.Container`,
  'A program run from an image, in the pod’s network and volumes.',
  containerFields,
  { checkedOrder },
)

/** A sidecar: an init container that runs beside the others and is restarted whenever it ends (KEP-753). */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always'

export interface EphemeralContainer extends Infer<typeof ephemeralContainer> {}
export const ephemeralContainer = object(
  `${coreV1}.EphemeralContainer`,
  'A container added to a running pod to look around in it. It is never restarted and has no resources of its own.',
  {
    ...containerFields,
    // What it may not have it may not have empty either.
    ports: { ...containerFields.ports, keepsEmpty: true },
    resizePolicy: { ...containerFields.resizePolicy, keepsEmpty: true },
    restartPolicyRules: { ...containerFields.restartPolicyRules, keepsEmpty: true },
    resources: { ...containerFields.resources, schema: resourcesWithout('requests', 'limits', 'claims') },
    targetContainerName: optional(string(), 'Container whose process namespace it joins.'),
  },
  { checkedOrder },
)
