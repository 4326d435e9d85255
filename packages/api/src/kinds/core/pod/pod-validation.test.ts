import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { checkFormat, checkUnderscoredSubdomain } from '../../../string-formats.ts'
import { problems, storedContainer, storedPod, type WrittenContainer, withStatus } from './pod-fixtures.ts'
import { validatePodTemplateSpec } from './pod-validation.ts'

beforeAll(loadStructForms)

type Spec = Readonly<Record<string, unknown>>

const container = (fields: WrittenContainer) => ({ name: 'web', image: 'nginx:1.27', ...fields })
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const [label] = checkFormat('dns1123-label', 'Not a label')
const [subdomain] = checkFormat('dns1123-subdomain', 'Not a subdomain')
const [labelKey] = checkFormat('qualified-name', 'a b')

const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** Upstream's list (supportedStopSignalsLinux), in its order. */
const linuxSignals =
  '"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"'

describe('a container', () => {
  it.each<[WrittenContainer, readonly string[]]>([
    [{}, []],
    [{ name: '' }, ['name: Required value']],
    [{ name: 'Web_1' }, [`name: Invalid value: "Web_1": ${label}`]],
    [{ image: '' }, ['image: Required value']],
    [{ image: ' nginx' }, ['image: Invalid value: " nginx": must not have leading or trailing whitespace']],
    [
      { imagePullPolicy: 'Sometimes' },
      ['imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    [
      { resizePolicy: [{}, { resourceName: 'gpu', restartPolicy: 'Maybe' }] },
      [
        'resizePolicy: Required value',
        'resizePolicy: Required value',
        'resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"',
        'resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"',
      ],
    ],
    [
      { resizePolicy: [{ restartPolicy: 'NotRequired' }, { restartPolicy: 'NotRequired' }] },
      ['resizePolicy: Required value', 'resizePolicy[1]: Duplicate value: ""', 'resizePolicy: Required value'],
    ],
    [{ restartPolicy: 'Never' }, []],
    [
      { restartPolicy: 'Sometimes' },
      ['restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'],
    ],
    [
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [300] } }],
      },
      [],
    ],
    [
      { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn' } }] },
      ['restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [
      { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Stop' }, { exitCodes: {} }] },
      [
        'restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"',
        'restartPolicyRules[0].exitCodes: Required value: must be specified',
        'restartPolicyRules[1].action: Unsupported value: "": supported values: "Restart", "RestartAllContainers"',
        'restartPolicyRules[1].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"',
      ],
    ],
    [
      {
        restartPolicy: 'Never',
        restartPolicyRules: Array.from({ length: 21 }, (_, index) => ({
          action: 'Restart',
          exitCodes: { operator: 'In', values: index === 0 ? Array.from({ length: 256 }, (_, code) => code) : [index] },
        })),
      },
      [
        'restartPolicyRules: Too many: 21: must have at most 20 items',
        'restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items',
      ],
    ],
    [{ ports: [{ containerPort: 0 }] }, ['ports[0].containerPort: Required value']],
    [
      { ports: [{ containerPort: 65536 }] },
      ['ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive'],
    ],
    [
      { ports: [{ containerPort: 80, protocol: 'HTTP' }] },
      ['ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      {
        ports: [
          { containerPort: 80, name: 'http' },
          { containerPort: 81, name: 'http' },
        ],
      },
      ['ports[1].name: Duplicate value: "http"'],
    ],
    [{ ports: [{ containerPort: 80 }, { containerPort: 80 }] }, []],
    [
      {
        ports: [
          { containerPort: 80, hostPort: 80 },
          { containerPort: 81, hostPort: 80 },
        ],
      },
      ['ports[1].hostPort: Duplicate value: "TCP//80"'],
    ],
    [
      { env: [{ name: 'A=B' }] },
      [
        `env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      ],
    ],
    [
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      [],
    ],
    [
      { env: [{ name: 'A', valueFrom: {} }] },
      [
        'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'gone', path: 'a.env', key: 'K' } } }] },
      ['env[0].valueFrom.fileKeyRef.volumeName: Not found: "gone"'],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: '', path: '', key: '' } } }] },
      [
        'env[0].valueFrom.fileKeyRef.volumeName: Required value',
        'env[0].valueFrom.fileKeyRef.path: Required value',
        'env[0].valueFrom.fileKeyRef.key: Required value',
        'env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'Not a label', path: '/../a', key: 'K=' } } }] },
      [
        `env[0].valueFrom.fileKeyRef.key: Invalid value: "K=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
        `env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "Not a label": ${label}`,
        'env[0].valueFrom.fileKeyRef.path: Invalid value: "/../a": must be a relative path',
        `env[0].valueFrom.fileKeyRef.path: Invalid value: "/../a": must not contain '..'`,
        'env[0].valueFrom.fileKeyRef.volumeName: Not found: "Not a label"',
      ],
    ],
    [
      { env: [{ name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      ['env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ],
    [
      {
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 's', key: 'k' } } },
        ],
      },
      ['env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }] },
      [`env[0].valueFrom.secretKeyRef.name: Invalid value: "": ${subdomain}`],
    ],
    [{ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }] }, []],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "spec.nodeName['x']" } } }] },
      [
        "env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.nodeName['x']\": error converting fieldPath: field label does not support subscript: spec.nodeName['x']",
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.hostname' } } }] },
      [
        'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.hostname": error converting fieldPath: field label not supported: spec.hostname',
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] },
      [
        'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
    ],
    [{ env: [{ name: 'A', valueFrom: { fieldRef: {} } }] }, ['env[0].valueFrom.fieldRef.fieldPath: Required value']],
    [{ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.host' } } }] }, []],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }] },
      [
        'env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '10m' } } }] },
      [
        'env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    [
      { envFrom: [{ prefix: 'P_' }] },
      ['envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    ],
    [{ envFrom: [{ secretRef: {} }] }, ['envFrom[0].secretRef.name: Required value']],
    [{ volumeMounts: [{ name: 'data', mountPath: '/x' }] }, ['volumeMounts[0].name: Not found: "data"']],
    [{ readinessProbe: {} }, ['readinessProbe: Required value: must specify a handler type']],
    [
      { readinessProbe: { exec: { command: ['true'] }, tcpSocket: { port: 80 } } },
      ['readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
    ],
    [{ readinessProbe: { exec: {} } }, ['readinessProbe.exec.command: Required value']],
    [
      { livenessProbe: { tcpSocket: { port: 0 } } },
      ['livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      { livenessProbe: { httpGet: { port: 'no port' } } },
      [
        'livenessProbe.httpGet.port: Invalid value: "no port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [
      { livenessProbe: { grpc: { port: 1 }, successThreshold: 2 } },
      ['livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    ],
    [
      { livenessProbe: { grpc: { port: 1 }, periodSeconds: -1 } },
      ['livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { readinessProbe: { grpc: { port: 1 }, terminationGracePeriodSeconds: 5 } },
      ['readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes'],
    ],
    [
      { lifecycle: { preStop: { sleep: { seconds: 60 } } } },
      [
        'lifecycle.preStop.sleep: Invalid value: 60: must be non-negative and less than terminationGracePeriodSeconds (30)',
      ],
    ],
    [
      { lifecycle: { stopSignal: 'SIGUSR1' } },
      ['lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`'],
    ],
    [
      { resources: { limits: { cpu: '-1' }, requests: { cpu: '-1' } } },
      [
        'resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    [
      { resources: { limits: { memory: '64Mi' }, requests: { memory: '128Mi' } } },
      ['resources.requests: Invalid value: "128Mi": must be less than or equal to memory limit of 64Mi'],
    ],
    [
      { resources: { requests: { gpu: '1' } } },
      [
        'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
        'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
      ],
    ],
    [
      { resources: { limits: { 'example.com/gpu': '500m' } } },
      [
        'resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
        'resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
      ],
    ],
    [
      { resources: { requests: { 'example.com/gpu': '1' } } },
      ['resources.limits: Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      { resources: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } } },
      ['resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ],
    [
      { resources: { limits: { 'hugepages-2Mi': '3Mi' } } },
      [
        'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
        'resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
        'resources: Forbidden: HugePages require cpu or memory',
      ],
    ],
    [
      { resources: { claims: [{ name: 'gpu' }] } },
      ['resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty'],
    ],
    [
      { securityContext: { runAsUser: -1 } },
      ['securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    ],
    [
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      ['securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
    ],
    [{ securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } } }, []],
    [
      { securityContext: { allowPrivilegeEscalation: false, privileged: true } },
      [
        'securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
    ],
  ])('%j', (fields, expected) => {
    expect(problems(storedContainer(fields))).toEqual(expected.map((each) => `spec.containers[0].${each}`))
  })
})

describe('a pod', () => {
  const mount = (fields: Spec) => ({ name: 'data', mountPath: '/data', ...fields })
  it.each<[Spec, readonly string[]]>([
    [{ containers: [] }, ['containers: Required value']],
    [{ containers: undefined }, ['containers: Required value']],
    [{ containers: [container({}), container({})] }, ['containers[1].name: Duplicate value: "web"']],
    [{ initContainers: [container({})] }, ['initContainers[0].name: Duplicate value: "web"']],
    [
      { containers: [container({ name: '' }), container({ name: '' })] },
      [
        'containers[0].name: Required value',
        'containers[1].name: Required value',
        'containers[1].name: Duplicate value: ""',
      ],
    ],
    [
      { initContainers: [container({ name: '' }), container({ name: '' })] },
      ['initContainers[0].name: Required value', 'initContainers[1].name: Required value'],
    ],
    [
      { initContainers: [container({ name: 'i', restartPolicyRules: [{ action: 'Stop' }] })] },
      ['initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [{ initContainers: [container({ name: 'i', restartPolicy: 'OnFailure' })] }, []],
    [
      {
        initContainers: [
          container({ name: 'i', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In' } }] }),
        ],
      },
      ['initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [
      { initContainers: [container({ name: 'i', livenessProbe: { grpc: { port: 1 } } })] },
      ['initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always'],
    ],
    [{ initContainers: [container({ name: 'i', restartPolicy: 'Always', livenessProbe: { grpc: { port: 1 } } })] }, []],
    [
      { ephemeralContainers: [container({ name: 'd', targetContainerName: 'x', ports: [{ containerPort: 1 }] })] },
      [
        'ephemeralContainers[0].targetContainerName: Not found: "x"',
        'ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      ],
    ],
    ...[{ ports: [] }, { resizePolicy: [] }, { restartPolicyRules: [] }].map((empty): [Spec, readonly string[]] => [
      { ephemeralContainers: [container({ name: 'd', ...empty })] },
      [`ephemeralContainers[0].${Object.keys(empty)[0]}: Forbidden: cannot be set for an Ephemeral Container`],
    ]),
    ...[{ limits: {} }, { requests: {} }, { claims: [] }].map((resources): [Spec, readonly string[]] => [
      { ephemeralContainers: [container({ name: 'd', resources })] },
      ['ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container'],
    ]),
    [{ ephemeralContainers: [container({ name: 'd', env: [], resources: {} })] }, []],
    [{ resources: { claims: [] } }, ['resources.claims: Forbidden: claims may not be set for Resources at pod-level']],
    [{ resources: { limits: {} }, containers: [container({ ports: [], resources: { claims: [] } })] }, []],
    [
      { restartPolicy: 'Maybe' },
      ['restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      { dnsPolicy: 'Mine' },
      [
        'dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    ],
    [
      { hostAliases: [{ hostnames: ['a'] }] },
      ['hostAliases[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      { readinessGates: [{}] },
      [
        'readinessGates[0].conditionType: Invalid value: "": name part must be non-empty',
        "readinessGates[0].conditionType: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ preference: { matchFields: [{}] } }],
          },
        },
      },
      [
        'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
        'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].operator: Invalid value: "": not a valid selector operator',
        'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key: Invalid value: "": not a valid field selector key',
      ],
    ],
    [
      { tolerations: [{ key: 'a', value: `${'-'.repeat(64)}` }] },
      [
        `tolerations[0].operator: Invalid value: "${'-'.repeat(64)}": must be no more than 63 bytes;a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      ],
    ],
    [{ overhead: { cpu: '-1' } }, ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
    [
      { securityContext: { seccompProfile: {}, windowsOptions: { runAsUserName: 'a\\b\\c' } } },
      [
        'securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set',
        'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
      ],
    ],
    [
      {
        resources: { requests: { cpu: '1', 'ephemeral-storage': '1' }, limits: { cpu: '2' }, claims: [{ name: 'c' }] },
        containers: [container({ resources: { requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: '3' } } })],
      },
      [
        'resources.claims: Forbidden: claims may not be set for Resources at pod-level',
        'resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
        'resources.claims[0]: Not found: "c": must be one of the names in pod.spec.resourceClaims which is empty',
        'resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
        'resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 2',
      ],
    ],
    [
      { dnsConfig: { searches: ['_a.b_c', '.', 'a.', 'a..b'] } },
      [`dnsConfig.searches[3]: Invalid value: "a..b": ${checkUnderscoredSubdomain('a..b').join()}`],
    ],
    [{ os: { name: 'plan9' } }, ['os: Unsupported value: "plan9": supported values: "linux", "windows"']],
    [{ os: {} }, ['os.name: Required value']],
    [
      {
        volumes: [{ name: 'a', emptyDir: {} }],
        containers: [container({ volumeMounts: [{ name: 'a', mountPath: '/a', recursiveReadOnly: 'Maybe' }] })],
      },
      [
        'containers[0].volumeMounts.recursiveReadOnly: Unsupported value: "Maybe": supported values: "Disabled", "Enabled", "IfPossible"',
      ],
    ],
    [{ dnsPolicy: 'None' }, ['dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
    [
      { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', 'x'] } },
      [
        'dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","x"]: must not have more than 3 nameservers',
        'dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      { activeDeadlineSeconds: 0 },
      ['activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [{ hostname: 'Web' }, [`hostname: Invalid value: "Web": ${label}`]],
    [{ serviceAccountName: 'A' }, [`serviceAccountName: Invalid value: "A": ${subdomain}`]],
    [{ nodeSelector: { 'a b': 'x' } }, [`nodeSelector: Invalid value: "a b": ${labelKey}`]],
    [
      { hostAliases: [{ ip: 'x' }] },
      ['hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      { nodeName: 'n', schedulingGates: [{ name: 'g' }] },
      ['nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [{ schedulingGates: [{ name: 'g' }, { name: 'g' }] }, ['schedulingGates[1]: Duplicate value: "g"']],
    [
      {
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'a', emptyDir: {} },
        ],
      },
      ['volumes[1].name: Duplicate value: "a"'],
    ],
    [
      { volumes: [{ name: 'a', emptyDir: {}, secret: { secretName: 's' } }] },
      ['volumes[0].secret: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      // What is missing in the second one does not matter. The words are upstream's.
      { volumes: [{ name: 'a', hostPath: {}, cephfs: {}, downwardAPI: {}, nfs: {} }] },
      [
        'volumes[0].hostPath.path: Required value',
        'volumes[0].nfs: Forbidden: may not specify more than 1 volume type',
        'volumes[0].cephFS: Forbidden: may not specify more than 1 volume type',
        'volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type',
      ],
    ],
    [{ preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
    [
      { volumes: [{ name: 'a', hostPath: { path: '/a/../b' } }] },
      ['volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      { volumes: [{ name: 'a', hostPath: { path: '/a', type: 'Pipe' } }] },
      [
        'volumes[0].hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [{ volumes: [{ name: 'a', secret: {} }] }, ['volumes[0].secret.secretName: Required value']],
    [
      { volumes: [{ name: 'a', configMap: { name: 'c', defaultMode: 512, items: [{ key: 'k', path: '/k' }] } }] },
      [
        'volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
        'volumes[0].configMap.items[0].path: Invalid value: "/k": must be a relative path',
      ],
    ],
    [
      { volumes: [{ name: 'a', persistentVolumeClaim: {} }] },
      ['volumes[0].persistentVolumeClaim.claimName: Required value'],
    ],
    [
      { volumes: [{ name: 'a', nfs: { server: 's', path: 'p' } }] },
      ['volumes[0].nfs.path: Invalid value: "p": must be an absolute path'],
    ],
    [
      {
        volumes: [
          { name: 'a', iscsi: { targetPortal: 't', iqn: 'iqn.2015-02.example.com:disk', initiatorName: 'eui.12' } },
          { name: 'b', iscsi: { targetPortal: 't', iqn: 'disk', lun: 256 } },
        ],
      },
      [
        'volumes[0].iscsi.initiatorname: Invalid value: "eui.12": must be valid format',
        'volumes[1].iscsi.iqn: Invalid value: "disk": must be valid format starting with iqn, eui, or naa',
        'volumes[1].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      ],
    ],
    [
      {
        volumes: [
          {
            name: 'a',
            iscsi: { targetPortal: 't'.repeat(63), iqn: 'iqn.2015-02.a:b', initiatorName: 'iqn.2015-02.a:b' },
          },
        ],
      },
      [
        'volumes[0].name: Invalid value: "a": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      ],
    ],
    [
      {
        volumes: [
          { name: 'a', csi: {} },
          { name: 'b', csi: { driver: 'd', nodePublishSecretRef: { name: 'A b' } } },
        ],
      },
      ['volumes[0].csi.driver: Required value', `volumes[1].csi.name: Invalid value: "A b": ${subdomain}`],
    ],
    [
      {
        volumes: [
          { name: 'a', csi: { driver: 'a_b', nodePublishSecretRef: {} } },
          { name: 'b', quobyte: { registry: 'a:1,[::1]:2,b', volume: 'v' } },
          { name: 'c', azureDisk: { diskName: 'd', diskURI: 'https://a', kind: 'Managed' } },
          { name: 'd', gcePersistentDisk: {} },
          { name: 'e', cinder: { volumeID: 'v', secretRef: {} } },
        ],
      },
      [
        `volumes[0].csi.driver: Invalid value: "a_b": ${subdomain}`,
        'volumes[0].csi.nodePublishSecretRef.name: Required value',
        'volumes[1].quobyte.registry: Invalid value: "a:1,[::1]:2,b": must be a host:port pair or multiple pairs separated by commas',
        'volumes[2].azureDisk.diskURI: Unsupported value: "https://a": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
        'volumes[3].persistentDisk.pdName: Required value',
        'volumes[4].cinder.secretRef.name: Required value',
      ],
    ],
    [
      {
        volumes: [{ name: 'a', downwardAPI: { items: [{ path: 'p' }] } }],
        containers: [container({ volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
      },
      [
        'volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
        'containers[0].volumeMounts[0].name: Not found: "a"',
      ],
    ],
    // A name that the schema refuses is no volume's, and one of a volume that is refused is free.
    [
      {
        volumes: [{ name: 'Not a label', emptyDir: {} }],
        containers: [container({ volumeMounts: [{ name: 'Not a label', mountPath: '/a' }] })],
      },
      [
        `volumes[0].name: Invalid value: "Not a label": ${labelRule}`,
        'containers[0].volumeMounts[0].name: Not found: "Not a label"',
      ],
    ],
    [
      {
        volumes: [
          { name: 'a', downwardAPI: { items: [{ path: 'p' }] } },
          { name: 'a', emptyDir: {} },
          { name: 'a', emptyDir: {} },
        ],
        containers: [container({ volumeMounts: [{ name: 'a', mountPath: '/a' }] })],
      },
      [
        'volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
        'volumes[2].name: Duplicate value: "a"',
      ],
    ],
    [
      { volumes: [{ name: 'a', downwardAPI: { items: [{ path: 'p' }] } }] },
      ['volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required'],
    ],
    [
      {
        volumes: [
          { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 5 } }] } },
        ],
      },
      [
        'volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
        'volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      {
        volumes: [
          {
            name: 'a',
            projected: {
              sources: [
                { secret: { name: 's', items: [{ key: 'k', path: 'p' }] } },
                { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
              ],
            },
          },
        ],
      },
      ['volumes[0].projected: Invalid value: "c": conflicting duplicate paths'],
    ],
    [
      {
        volumes: [{ name: 'data', configMap: { name: 'c' } }],
        initContainers: [
          container({
            name: 'first',
            env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'data', path: 'a.env', key: 'K' } } }],
          }),
        ],
      },
      [
        'initContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "data": referenced volume must be of type emptyDir',
      ],
    ],
    [
      {
        volumes: [{ name: 'data' }],
        containers: [
          container({
            env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'data', path: 'a.env', key: 'K' } } }],
          }),
        ],
      },
      [],
    ],
    [
      { volumes: [{ name: 'data' }], containers: [container({ volumeMounts: [mount({}), mount({})] })] },
      ['containers[0].volumeMounts[1].mountPath: Invalid value: "/data": must be unique'],
    ],
    [
      { volumes: [{ name: 'data' }], containers: [container({ volumeMounts: [mount({ subPath: '../x' })] })] },
      ['containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain \'..\''],
    ],
    [
      {
        volumes: [{ name: 'data' }],
        containers: [container({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] })],
      },
      [
        'containers[0].volumeDevices[0].name: Invalid value: "data": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      ],
    ],
    [
      { containers: [container({ volumeDevices: [{}, {}] })] },
      [
        'containers[0].volumeDevices[0].name: Required value',
        'containers[0].volumeDevices[0].name: Not found: ""',
        'containers[0].volumeDevices[0].devicePath: Required value',
        'containers[0].volumeDevices[1].name: Required value',
        'containers[0].volumeDevices[1].name: Not found: ""',
        'containers[0].volumeDevices[1].devicePath: Required value',
        'containers[0].volumeDevices[1].devicePath: Invalid value: "": must be unique',
      ],
    ],
    [
      { volumes: [{ name: 's', secret: { secretName: 's', items: [{ key: 'k', path: '..' }] } }] },
      [
        'volumes[0].secret.items[0].path: Invalid value: "..": must not contain \'..\'',
        'volumes[0].secret.items[0].path: Invalid value: "..": must not start with \'..\'',
      ],
    ],
    [
      { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80, hostPort: 81 }] })] },
      ['containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true'],
    ],
    [{ hostUsers: false, hostPID: true }, ['HostPID: Forbidden: when `hostUsers` is false']],
    [
      { tolerations: [{ key: 'a', operator: 'Lt', value: '1' }] },
      ['tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"'],
    ],
    ...['SIGUSR1', 'SIGPOLL', 'SIGRTMIN', 'SIGRTMIN+15', 'SIGRTMAX-14', 'SIGRTMAX'].map(
      (stopSignal): [Spec, string[]] => [
        { os: { name: 'linux' }, containers: [container({ lifecycle: { stopSignal } })] },
        [],
      ],
    ),
    ...['SIGBOGUS', 'SIGRTMIN+16', 'SIGRTMAX-15', 'SIGRTMIN+0'].map((stopSignal): [Spec, string[]] => [
      { os: { name: 'linux' }, containers: [container({ lifecycle: { stopSignal } })] },
      [`containers[0].lifecycle.stopSignal: Unsupported value: "${stopSignal}": supported values: ${linuxSignals}`],
    ]),
    [
      { os: { name: 'windows' }, containers: [container({ lifecycle: { stopSignal: 'SIGHUP' } })] },
      ['containers[0].lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"'],
    ],
    [
      { os: { name: 'windows' }, securityContext: { fsGroup: 1 } },
      ['securityContext.fsGroup: Forbidden: cannot be set for a windows pod'],
    ],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 'ca.pem' } }] } }] },
      [
        'volumes[0].projected.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified',
      ],
    ],
    [
      { os: { name: 'windows' }, shareProcessNamespace: false, hostUsers: false, hostPID: false },
      [
        'hostUsers: Forbidden: cannot be set for a windows pod',
        'shareProcessNamespace: Forbidden: cannot be set for a windows pod',
      ],
    ],
    ...[{ type: '' }, { type: 'Strict' }].map(({ type }): [Spec, string[]] => [
      { securityContext: { appArmorProfile: { type, localhostProfile: 'mine' } } },
      [
        type === ''
          ? 'securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set'
          : `securityContext.appArmorProfile.type: Unsupported value: "${type}": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
      ],
    ]),
    [
      { securityContext: { appArmorProfile: { type: 'Unconfined', localhostProfile: 'mine' } } },
      [
        'securityContext.appArmorProfile.localhostProfile: Invalid value: "mine": can only be set when AppArmor type is Localhost',
      ],
    ],
    [
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'Wait', minDomains: 2, labelSelector: {} },
        ],
      },
      [
        'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"',
        'topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Wait',
      ],
    ],
    [
      {
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [container({ volumeMounts: [mount({ mountPath: '' }), mount({ mountPath: '' })] })],
      },
      [
        'containers[0].volumeMounts[0].mountPath: Required value',
        'containers[0].volumeMounts[1].mountPath: Required value',
        'containers[0].volumeMounts[1].mountPath: Invalid value: "": must be unique',
      ],
    ],
    [
      { containers: [container({ resources: { requests: { 'requests.hugepages-2Mi': '2Mi' } } })] },
      [
        'containers[0].resources.requests[requests.hugepages-2Mi]: Invalid value: "requests.hugepages-2Mi": must be a standard resource for containers',
      ],
    ],
    [
      {
        resources: { requests: { cpu: '1', 'hugepages-2Mi': '2Mi' } },
        containers: [container({ resources: { limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } } })],
      },
      ['resources.limits: Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] }, hostNetwork: true },
      [
        'securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when \'hostNetwork\' is true',
      ],
    ],
    [{ tolerations: [{ operator: 'Exists' }] }, []],
    [
      { tolerations: [{ value: 'x' }] },
      [
        'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] },
      ['tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\''],
    ],
    [
      { tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 }] },
      [
        'tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    ],
    [
      { tolerations: [{ key: 'a', operator: 'Like', effect: 'Never' }] },
      [
        'tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
        'tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'Never' }] },
      [
        'topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
    ],
    [
      {
        topologySpreadConstraints: Array(2).fill({
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
        }),
      },
      ['topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"'],
    ],
    [
      { resourceClaims: [{ name: 'gpu' }] },
      [
        'resourceClaims[0]: Invalid value: {"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
    [
      { resourceClaims: [{ name: 'gpu', resourceClaimName: '' }] },
      [`resourceClaims[0].resourceClaimName: Invalid value: "": ${subdomain}`],
    ],
    [
      { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: '' }] },
      [`resourceClaims[0].resourceClaimTemplateName: Invalid value: "": ${subdomain}`],
    ],
    [{ hostnameOverride: '' }, [`hostnameOverride: Invalid value: "": ${subdomain}`]],
    [
      { securityContext: { seLinuxChangePolicy: 'MountOption' } },
      ['securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"'],
    ],
    [
      {
        initContainers: [
          container({ name: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
        ],
      },
      [
        'initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers',
      ],
    ],
    [
      {
        os: { name: 'windows' },
        resources: { requests: { cpu: '1' } },
        securityContext: { seLinuxChangePolicy: 'Recursive' },
      },
      [
        'resources: Forbidden: may not be set for a windows pod',
        'securityContext.seLinuxChangePolicy: Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      {
        resources: { requests: { cpu: '1', 'hugepages-2Mi': '2Mi' }, limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } },
        containers: [container({ resources: { limits: { cpu: '1', 'hugepages-2Mi': '4Mi' } } })],
      },
      [
        'resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi',
        'resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi',
        'resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi',
      ],
    ],
    [{ securityContext: { windowsOptions: { hostProcess: true } }, hostNetwork: true }, []],
    [
      {
        securityContext: { windowsOptions: { hostProcess: true } },
        containers: [container({ securityContext: { windowsOptions: { hostProcess: false } } })],
        initContainers: [container({ name: 'i' })],
      },
      [
        'containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true',
        ': Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
        'hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
      ],
    ],
    [
      {
        containers: [
          container({
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1, 1] } }],
          }),
        ],
      },
      [],
    ],
    ...(
      [
        [{ name: 'a' }, 'name'],
        [{ generateName: 'a' }, 'generateName'],
        [{ uid: 'a' }, 'uID'],
        [{ resourceVersion: '1' }, 'resourceVersion'],
        [{ generation: 1 }, 'generation'],
        [{ creationTimestamp: '2026-01-01T00:00:00Z' }, 'creationTimestamp'],
        [{ deletionGracePeriodSeconds: 0 }, 'deletionGracePeriodSeconds'],
        [{ finalizers: ['a/b'] }, 'finalizers'],
        [{ labels: { a: 'b' }, annotations: { a: 'b' } }, undefined],
      ] as const
    ).map(([metadata, field]): [Spec, string[]] => [
      { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { metadata, spec: claimSpec } } }] },
      field === undefined
        ? []
        : [`volumes[0].ephemeral.volumeClaimTemplate.metadata.${field}: Forbidden: cannot be set`],
    ]),
    [
      {
        volumes: [
          { name: 'v', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } },
          { name: 'w', persistentVolumeClaim: { claimName: 'web-v' } },
        ],
      },
      [
        'volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-v": must not reference a PVC that gets created for an ephemeral volume',
      ],
    ],
  ])('%j', (spec, expected) => {
    const lines = expected.map((each) => (each.startsWith(': ') ? `spec${each}` : `spec.${each}`))
    expect(problems(storedPod(spec))).toEqual(lines)
  })

  it('of a file has no claims of resources', () => {
    const claims = ['a', 'b'].map((name) => ({ name, resourceClaimName: name }))
    const pod = storedPod({ nodeName: 'n', resourceClaims: claims })
    const mirror = { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.mirror': 'hash' } } }
    const refusal = '[]: Forbidden: static pods do not support resource claims'
    expect(problems(pod)).toEqual([])
    expect(problems(mirror)).toEqual([refusal, refusal])
  })

  it('has claims made for it with names that fit', () => {
    const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }]
    const pod = storedPod({ volumes })
    const long = { ...pod, metadata: { ...pod.metadata, name: 'a'.repeat(252) } }
    expect(problems(long)).toEqual([
      `spec.volumes[0].name: Invalid value: "v": PVC name "${'a'.repeat(252)}-v": must be no more than 253 characters`,
    ])
  })

  it.each<[Spec, readonly string[]]>([
    [{ key: 'zone', operator: 'In' }, ["values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]],
    [
      { key: 'zone', operator: 'Exists', values: ['a'] },
      ["values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ],
    [
      { key: 'zone', operator: 'Gt', values: ['1', '2'] },
      ["values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"],
    ],
    [{ key: 'zone', operator: 'Near' }, ['operator: Invalid value: "Near": not a valid selector operator']],
  ])('with a node affinity for %j', (requirement, expected) => {
    const needed = { nodeSelectorTerms: [{ matchExpressions: [requirement] }] }
    const path =
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]'
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: needed } }
    expect(problems(storedPod({ affinity }))).toEqual(expected.map((each) => `${path}.${each}`))
  })

  it('checks the terms of pod affinity', () => {
    const podAffinityTerm = { topologyKey: 'zone', matchLabelKeys: ['a'], namespaces: ['X'] }
    const preferred = [{ weight: 101, podAffinityTerm }]
    const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } }
    const path = 'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]'
    expect(problems(storedPod({ affinity }))).toEqual([
      `${path}.weight: Invalid value: 101: must be in the range 1-100`,
      `${path}.podAffinityTerm.namespace: Invalid value: "X": ${label}`,
      `${path}.podAffinityTerm.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
    ])
  })
})

describe('a status', () => {
  it('may tell of a container before its image is known', () => {
    const waiting = { name: 'web', ready: false, restartCount: 0, image: 'nginx:1.27', imageID: '' }
    expect(problems(withStatus(storedPod(), { containerStatuses: [waiting] }))).toEqual([])
  })
})

describe('a template', () => {
  const path = FieldPath.of('spec', 'template')
  const errors = (spec: Spec, metadata = {}) =>
    validatePodTemplateSpec({ metadata, spec: { ...storedPod(spec).spec } }, path).map(describeFieldError)

  it('may leave to its pods what they fill in', () => {
    const ports = [{ containerPort: 80 }]
    const { spec } = storedContainer({ ports, image: ' nginx ' })
    expect(validatePodTemplateSpec({ spec: { ...spec, hostNetwork: true } }, path)).toEqual([])
  })

  it('has no ephemeral containers, and labels like any', () => {
    expect(errors({ ephemeralContainers: [container({ name: 'd' })] })).toEqual([
      'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ])
    expect(errors({}, { labels: { app: '-' } })).toEqual([
      expect.stringMatching(/^spec.template.labels: Invalid value: "-"/),
    ])
  })
})
