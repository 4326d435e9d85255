import { afterAll, beforeAll, describe } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// Sets of objects that are applied together and pruned (KEP 3659), by kubectl and by coracle: what is said, and what is in the objects.

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
  await program.kubectl(['create', '-f', '-'], { input: manifest(...customKinds) })
  await program.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=50s'])
})
afterAll(() => program[Symbol.asyncDispose]())

const group = 'sets.example.com'

const customKind = (plural: string, kind: string, scope: string, labels: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}`, labels },
  spec: {
    group,
    scope,
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

const parentType = { 'applyset.kubernetes.io/is-parent-type': 'true' }

const customKinds = [
  customKind('packages', 'Package', 'Namespaced', parentType),
  customKind('bundles', 'Bundle', 'Cluster', parentType),
  customKind('things', 'Thing', 'Namespaced', {}),
]

const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'reader' }, rules: [] }
const first = configMap('first', { a: '1' })
const second = configMap('second', { a: '1' })
const third = configMap('third', { a: '1' })
const all = manifest(first, second, role)

/** An object that is there before a set has it for its parent. */
const parent = (kind: string, annotations: object, labels: object = {}, apiVersion = 'v1') =>
  manifest({ apiVersion, kind, metadata: { name: 'one', annotations, labels } })

const tooling = 'applyset.kubernetes.io/tooling'
const kinds = 'applyset.kubernetes.io/contains-group-kinds'

const apply = (flags: string, input: string): Step => [`apply --prune -f - ${flags}`, input]
const shown = ['secret one', 'cm', 'role'].map((what) => `get ${what} -o yaml --show-managed-fields`)

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'a set grows and shrinks': [
    apply('--applyset=one', all),
    ...shown,
    apply('--applyset=one', all),
    apply('--applyset=one', manifest(first, role)),
    ...shown,
    apply('--applyset=one', manifest(first)),
    ...shown,
    apply('--applyset=one -o name', manifest(third)),
    apply('--applyset=one -o json', manifest(first)),
    ...shown,
    apply('--applyset=one', ''),
  ],
  'two sets in a namespace': [
    apply('--applyset=one', manifest(first, second)),
    apply('--applyset=configmaps/two', manifest(third)),
    apply('--applyset=one', manifest(first)),
    apply('--applyset=configmap/two', manifest(role)),
    apply('--applyset=cm/two', manifest(second)),
    'get cm,secret,role -o yaml --show-managed-fields',
    // What another set has is taken over.
    apply('--applyset=one', manifest(first, second)),
    apply('--applyset=ConfigMaps/two', manifest(role)),
    'get cm,role -o yaml',
  ],
  'what others made is left alone': [
    ['apply -f -', manifest(first, second)],
    apply('--applyset=one', manifest(role)),
    apply('--applyset=one', manifest(role, first)),
    apply('--applyset=one', manifest(role)),
    'get cm -o name',
  ],
  'by the server': [
    apply('--applyset=one --server-side', all),
    apply('--applyset=one --server-side', manifest(first, role)),
    ...shown,
  ],
  'dry runs': [
    apply('--applyset=one --dry-run=client', all),
    apply('--applyset=one --dry-run=server', all),
    ...shown,
    apply('--applyset=one', all),
    apply('--applyset=one --dry-run=client', manifest(first, role)),
    apply('--applyset=one --dry-run=server', manifest(first, role)),
    apply('--applyset=one --dry-run=server -o yaml', manifest(first, role)),
    ...shown,
  ],
  'how what is pruned is deleted': [
    apply('--applyset=one', manifest(first, second)),
    apply('--applyset=one --cascade=foreground --grace-period=0', manifest(first)),
    apply('--applyset=one --cascade=x', manifest(first)),
  ],
  'parents of custom kinds': [
    apply(`--applyset=packages.${group}/one`, manifest(first)),
    ['create -f -', parent('Package', { [tooling]: 'kubectl/v1', [kinds]: '' }, {}, `${group}/v1`)],
    apply(`--applyset=packages.${group}/one`, manifest(first)),
    apply(`--applyset=things.${group}/one`, manifest(first)),
    apply(`--applyset=bundles.${group}/none`, manifest(first)),
    apply('--applyset=deployments/one', manifest(first)),
    apply('--applyset=nodes/one', manifest(first)),
  ],
  'a parent in no namespace': [
    [
      'create -f -',
      manifest({
        apiVersion: `${group}/v1`,
        kind: 'Bundle',
        metadata: { name: '{namespace}', annotations: { [tooling]: 'kubectl/v1', [kinds]: '' } },
      }),
    ],
    apply('--applyset=bundles/{namespace}', all),
    'get bundle {namespace} -o yaml --show-managed-fields',
  ],
  'parents that are not of the set': [
    ['create -f -', parent('Secret', {})],
    apply('--applyset=one', manifest(first)),
    'annotate secret one applyset.kubernetes.io/tooling=other/tool/v1',
    apply('--applyset=one', manifest(first)),
    'annotate --overwrite secret one applyset.kubernetes.io/tooling=kubectl',
    apply('--applyset=one', manifest(first)),
    'label secret one applyset.kubernetes.io/id=wrong',
    apply('--applyset=one', manifest(first)),
  ],
  'a parent that others have changed': [
    apply('--applyset=one', manifest(first, second)),
    'annotate --overwrite secret one applyset.kubernetes.io/additional-namespaces=elsewhere',
    apply('--applyset=one', manifest(first)),
    'get secret one -o yaml --show-managed-fields',
  ],
  'kinds that a parent notes': [
    apply('--applyset=one', manifest(first, second, role)),
    'annotate secret one applyset.kubernetes.io/contains-group-kinds-',
    apply('--applyset=one', manifest(first)),
    'annotate secret one applyset.kubernetes.io/contains-group-resources=configmaps,nosuch.example.com',
    apply('--applyset=one', manifest(first)),
    'annotate --overwrite secret one applyset.kubernetes.io/contains-group-resources=configmaps',
    apply('--applyset=one', manifest(first)),
    'get secret one -o yaml',
    'annotate --overwrite secret one applyset.kubernetes.io/contains-group-kinds=Nosuch.example.com',
    apply('--applyset=one', manifest(first)),
    'annotate --overwrite secret one applyset.kubernetes.io/contains-group-kinds=Nosuch',
    apply('--applyset=one', manifest(first)),
  ],
  'objects that fail': [
    apply('--applyset=one', manifest(first, second)),
    apply('--applyset=one', manifest(first, configMap('Bad_Name', {}))),
    'get secret one -o yaml',
    apply('--applyset=one', manifest(role, { apiVersion: 'v1', kind: 'Nosuch', metadata: { name: 'x' } })),
    'get secret one -o yaml',
    apply(
      '--applyset=two',
      manifest({ ...configMap('x', {}), metadata: { name: 'x', labels: { 'applyset.kubernetes.io/part-of': 'y' } } }),
    ),
    'get secret two -o yaml',
    apply('--applyset=three', '{'),
    'get secret three -o yaml',
    'get cm,role -o name',
  ],
  'flags that contradict each other': [
    apply('--applyset=one --all', manifest(first)),
    apply('--applyset=one -l a=b', manifest(first)),
    apply('--applyset=one --prune-allowlist=core/v1/ConfigMap', manifest(first)),
    apply('--applyset=one --prune-allowlist=core/v1/Nosuch', manifest(first)),
    apply('--applyset=one --force', manifest(first)),
    apply('--applyset=one --all -l a=b', manifest(first)),
    ['apply -f - --applyset=one', manifest(first)],
    ['apply -f - --applyset=deployments/one', manifest(first)],
    apply('--applyset=', manifest(first)),
    apply('--applyset=secrets/', manifest(first)),
    apply('--applyset=nosuch/one', manifest(first)),
    apply('--applyset=nosuch.example.com/one', manifest(first)),
    apply('--applyset=secrets/one/two', manifest(first)),
    apply('--applyset=one --namespace=', manifest(first)),
    apply('--applyset=deployments/one --namespace=', manifest(first)),
    apply('--applyset=one --as=nobody', manifest(first)),
    apply('--applyset=packages/one --as=nobody', manifest(first)),
    'apply --prune --applyset=nosuch/one',
    'apply --prune --applyset=one -f nowhere.yaml',
  ],
}

describe('sets of applied objects', () => {
  compareScenarios(() => program, scenarios, { KUBECTL_APPLYSET: 'true' })
})
