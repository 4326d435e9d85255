import { afterAll, beforeAll, describe } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// What the server is and has, side by side with kubectl.

const widgets = manifest({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'A widget.\n\n  * first, which is long enough to be wrapped at the end of the line that it is on\n  * second',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', description: `${'long '.repeat(40)}.` },
                  port: { 'x-kubernetes-int-or-string': true },
                  note: { type: 'string', nullable: true, enum: ['a', 'b', '', 'd', 'e', 'f'] },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
                },
              },
            },
          },
        },
      },
    ],
  },
})

const rbac = (kind: string, name: string, rest: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  // kubectl takes the namespace from the file alone.
  metadata: { name, ...(kind.startsWith('Cluster') ? {} : { namespace: '{namespace}' }) },
  ...rest,
})
const role = (resources: readonly string[], verbs: readonly string[], metadata: object = {}) => {
  const made = rbac('Role', 'reader', { rules: [{ apiGroups: [''], resources, verbs }] })
  return { ...made, metadata: { ...made.metadata, ...metadata } }
}
const binding = (user: string, roleName = 'reader') =>
  rbac('RoleBinding', 'readers', {
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
  })
const clusterRole = (rest: object) => rbac('ClusterRole', '{namespace}-paths', rest)
const optedOut = { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } }

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever'] })
  await program.kubectlOk(['create', '-f', '-'], { input: widgets })
  await program.kubectlOk(['wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=50s'])
})
afterAll(() => program[Symbol.asyncDispose]())

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'api-resources lists types': [
    'api-resources',
    'api-resources -o wide --api-group=apps',
    'api-resources -o name --namespaced=false',
    'api-resources -o json --api-group=example.com',
    'api-resources -o json --cached',
    'api-resources -o yaml --verbs=deletecollection --sort-by=kind',
    'api-resources -o yaml --categories=all',
  ],
  'explain describes types and fields': [
    'explain pods',
    'explain pods --recursive',
    'explain pod.spec.containers',
    'explain pod.spec.containers.nosuch',
    'explain deployment.spec.nosuch.field',
    'explain pod.spec.nosuch --output=plaintext-openapiv2',
    'explain pod.spec.affinity',
    'explain deploy.spec.strategy',
    'explain pod.spec.containers.resources.limits',
    'explain deploy.spec.strategy.type',
    'explain pods.spec.restartPolicy',
    'explain pods.metadata.labels --recursive',
    'explain ingress.spec.rules.http.paths --recursive',
    'explain crd --recursive',
    'explain crd.spec.versions.schema.openAPIV3Schema',
    'explain hpa --api-version=autoscaling/v1',
    'explain widgets',
    'explain widgets.spec',
    'explain widgets.spec.note',
    'explain widget --recursive',
  ],
  'explain knows the older form': [
    'explain pods --output=plaintext-openapiv2',
    'explain pods.spec --output=plaintext-openapiv2 --recursive',
    'explain pods.spec.containers --output=plaintext-openapiv2',
    'explain pods.spec.restartPolicy --output=plaintext-openapiv2',
    'explain pods.spec.nodeSelector -o plaintext-openapiv2',
    'explain crd --output=plaintext-openapiv2 --recursive',
    'explain widgets --output=plaintext-openapiv2',
    'explain widgets.spec --output=plaintext-openapiv2',
    'explain pods.spec.nope --output=plaintext-openapiv2',
    'explain deploy --api-version=v2 --output=plaintext-openapiv2',
  ],
  'create token asks for what is possible': [
    'create token default -o jsonpath={.spec}',
    'create token default --audience=a --audience=b --duration=20m -o jsonpath={.spec}',
    'create token default -o jsonpath={.kind}',
    'create token default --duration=1ms',
    'create token default --duration=-1s',
    'create token default --duration=1m',
    'create token default --bound-object-kind=Foo',
    'create token default --bound-object-kind=Pod',
    'create token default --bound-object-name=a',
    'create token default --bound-object-uid=a',
    'create token default --bound-object-kind=Pod --bound-object-name=a',
    'create token default --audience=',
    'create token',
    'create token a b',
    'create token nobody',
  ],
  'auth reconcile adds what is lacking': [
    ['auth reconcile -f -', manifest(role(['pods'], ['get', 'list']), binding('ann'), configMap('passed-over', {}))],
    ['auth reconcile -f -', manifest(role(['pods'], ['get']), binding('ann'))],
    ['auth reconcile -f -', manifest(role(['pods', 'services'], ['get', 'watch']), binding('bob'))],
    ['auth reconcile -f - --dry-run=client', manifest(role(['secrets'], ['get']), binding('eve'))],
    ['auth reconcile -f - --dry-run=server', manifest(role(['secrets'], ['get']), binding('eve'))],
    [
      'auth reconcile -f - --remove-extra-permissions --remove-extra-subjects',
      manifest(role(['pods'], ['get']), binding('eve')),
    ],
    ['auth reconcile -f - -o yaml', manifest(role(['pods'], ['get'], { labels: { a: 'b' } }), binding('dan', 'other'))],
    ['auth reconcile -f - -o name', manifest(role(['pods/log'], ['get'], optedOut), binding('dan', 'other'))],
    ['auth reconcile -f -', manifest(role(['pods/*'], ['list']))],
    'get role,rolebinding -o jsonpath={.items[*].rules}{.items[*].subjects}',
    ['auth reconcile -f -', manifest(clusterRole({ rules: [{ nonResourceURLs: ['/x/*'], verbs: ['get'] }] }))],
    ['auth reconcile -f -', manifest(clusterRole({ rules: [{ nonResourceURLs: ['/x/y', '/z'], verbs: ['get'] }] }))],
    [
      'auth reconcile -f -',
      manifest(clusterRole({ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } })),
    ],
    'auth reconcile',
    ['auth reconcile -f - more', manifest(role([], []))],
    'auth whoami -o go-template={{.kind}}',
    'auth whoami --template={{.kind}}',
    'create token default -o go-template --template={{.kind}}',
    'config view --template={{.kind}}',
  ],
  'a dump has lists as programs hold them': [
    'create service clusterip web --tcp=80:80 --clusterip=None',
    'cluster-info dump --namespaces={namespace}',
    'cluster-info dump --namespaces={namespace} -o yaml',
    'cluster-info dump --namespaces={namespace} --show-managed-fields',
  ],
  'explain says what is not there': [
    'explain',
    'explain a b',
    'explain nosuch',
    'explain pods --api-version=apps/v1',
    'explain deploy --api-version=v2',
    'explain pods -o foo',
  ],
}

describe('coracle beside kubectl', () => {
  compareScenarios(() => program, scenarios)
})
