import { afterAll, beforeAll, describe } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// What writes: pruning, what was last applied, changes without a server, who writes. By kubectl and by coracle.

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const labelled = (name: string, app: string, data: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app } },
  data,
})

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'x:1' }] } },
  },
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'fixed' },
  spec: { clusterIP: 'None', ports: [{ port: 80 }] },
}

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'apply --prune takes away what is in the files no more': [
    ['apply -f -', manifest(labelled('a', 'web'), labelled('b', 'web'), labelled('c', 'db'))],
    'create configmap own --from-literal=a=1',
    'label cm own app=web',
    ['apply --prune -l app=web -f - --dry-run=client', manifest(labelled('a', 'web'))],
    ['apply --prune -l app=web -f - --dry-run=server', manifest(labelled('a', 'web'))],
    ['apply --prune -l app=web -f -', manifest(labelled('a', 'web', { changed: 'yes' }))],
    'get cm -l app -o name',
    ['apply --prune -f -', manifest(labelled('a', 'web'))],
    ['apply --prune -l app=web --force -f -', manifest(labelled('a', 'web'))],
    ['apply --prune -l app=web --server-side -f -', manifest(labelled('a', 'web'))],
    ['apply --prune -l app=db --prune-allowlist=core/v1 -f -', manifest(labelled('d', 'db'))],
    ['apply --prune -l app=db --prune-allowlist=core/v1/Secret -f -', manifest(labelled('d', 'db'))],
    ['apply --prune -l app=db --prune-allowlist=core/v1/ConfigMap -o name -f -', manifest(labelled('d', 'db'))],
    ['apply --prune --all --prune-allowlist=core/v1/ConfigMap -f -', manifest(labelled('d', 'db'))],
    'get cm -l app -o name',
  ],
  'apply --force makes anew what cannot be changed': [
    ['apply -f -', manifest(service)],
    ['apply -f -', manifest({ ...service, spec: { ...service.spec, clusterIP: '10.96.7.7' } })],
    ['apply --force --server-side -f -', manifest(service)],
    ['apply --force --dry-run=server -f -', manifest(service)],
    ['apply --force --grace-period=0 -f -', manifest({ ...deployment, spec: { ...deployment.spec, replicas: 0 } })],
    [
      'apply --force -f -',
      manifest({
        ...deployment,
        spec: {
          ...deployment.spec,
          selector: { matchLabels: { app: 'other' } },
          template: { ...deployment.spec.template, metadata: { labels: { app: 'other' } } },
        },
      }),
    ],
    'get deployment web -o jsonpath={.spec.selector.matchLabels}',
  ],
  'what was last applied is shown and set': [
    ['apply -f -', manifest(configMap('a', { k: '1' }), configMap('b', { k: '2' }))],
    'create configmap own --from-literal=a=1',
    'apply view-last-applied cm/a',
    'apply view-last-applied cm a -o json',
    'apply view-last-applied cm a b',
    'apply view-last-applied cm a -o wide',
    'apply view-last-applied cm own',
    'apply view-last-applied cm nobody',
    ['apply view-last-applied -f -', manifest(configMap('b', {}))],
    ['apply set-last-applied -f -', manifest(configMap('a', { k: '1' }))],
    ['apply set-last-applied -f - --dry-run=client', manifest(configMap('a', { k: '5' }))],
    ['apply set-last-applied -f - --dry-run=server', manifest(configMap('a', { k: '5' }))],
    ['apply set-last-applied -f - -o name', manifest(configMap('a', { k: '6' }))],
    ['apply set-last-applied -f -', manifest(configMap('a', { k: '7' }))],
    'apply view-last-applied cm a',
    ['apply set-last-applied -f -', manifest(configMap('own', { a: '1' }))],
    ['apply set-last-applied -f - --create-annotation', manifest(configMap('own', { a: '1' }))],
    'apply view-last-applied cm own',
    ['apply set-last-applied -f -', manifest(configMap('nobody', {}))],
    'get cm a own -o jsonpath={.items[*].data}',
  ],
  'changes without a server': [
    ['label --local -f - a=b', manifest(configMap('a', {}))],
    ['label --local -f - a=b -o yaml', manifest(configMap('a', {}))],
    ['annotate --local -f - a=b -o yaml', manifest(configMap('a', {}))],
    ['label --local -f - a=b --dry-run=server', manifest(configMap('a', {}))],
    [`patch --local -f - -p '{"data":{"k":"v"}}' -o yaml`, manifest(configMap('a', {}))],
    [`patch --local -f - -p '{"data":{"k":"v"}}'`, manifest(configMap('a', {}))],
    ['set image --local -f - web=x:2', manifest(deployment)],
    ['set image --local -f - web=x:2 -o jsonpath={.spec.template.spec.containers[*].image}', manifest(deployment)],
    ['set env --local -f - A=1 -o jsonpath={.spec.template.spec.containers[*].env}', manifest(deployment)],
    ['set resources --local -f - --limits=cpu=1 -o jsonpath={.spec.template.spec.containers}', manifest(deployment)],
    [
      'set serviceaccount --local -f - robot -o jsonpath={.spec.template.spec.serviceAccountName}',
      manifest(deployment),
    ],
    ['set selector --local -f - a=b -o jsonpath={.spec.selector}', manifest(service)],
  ],
  'set subject gives a role to more': [
    'create rolebinding rb --clusterrole=view --user=ann',
    'set subject rolebinding rb --user=bob --group=staff --serviceaccount=shop:robot --serviceaccount=:own',
    'set subject rolebinding rb --user=bob',
    'set subject rolebinding rb --user=eve --dry-run=client',
    'set subject rolebinding rb --user=eve --dry-run=server -o name',
    'set subject rolebinding rb',
    'set subject rolebinding rb --serviceaccount=robot',
    'set subject cm kube-root-ca.crt --user=ann',
    'get rolebinding rb -o jsonpath={.subjects}',
  ],
  'who writes, and names with a hash': [
    'create configmap h --from-literal=a=1 --append-hash --dry-run=client -o name',
    'create configmap h --from-literal=a=<&> --from-literal=b=2 --append-hash -o name',
    'create configmap empty --append-hash --dry-run=client -o name',
    'create secret generic h --from-literal=a=1 --append-hash --dry-run=client -o name',
    'create secret generic h --from-literal=a=1 --type=x/y --append-hash -o name',
    'create secret docker-registry h --docker-username=u --docker-password=p --append-hash --dry-run=client -o name',
    'create configmap own --from-literal=a=1 --field-manager=me',
    'get cm own -o jsonpath={.metadata.managedFields[*].manager}',
    'label cm own a=b --field-manager=you',
    'annotate cm own a=b --field-manager=they',
    `patch cm own -p '{"data":{"b":"2"}}' --field-manager=we`,
    'get cm own -o jsonpath={.metadata.managedFields[*].manager}',
    ['apply -f - --field-manager=it', manifest(configMap('applied', { k: '1' }))],
    'get cm applied -o jsonpath={.metadata.managedFields[*].manager}',
  ],
  'run, expose and autoscale note what they made': [
    'run p --image=x --image-pull-policy=Always --privileged --dry-run=client -o yaml',
    'run p --image=x --image-pull-policy=Sometimes',
    ['apply -f -', manifest(deployment)],
    'expose deployment web --port=80 --save-config --dry-run=client -o jsonpath={.spec}',
    'expose deployment web --port=80 --save-config',
    'autoscale deployment web --max=3 --save-config',
    'get service,hpa -o jsonpath={range .items[*]}{.kind}{end}',
    { follow: 'apply view-last-applied service/web' },
    { follow: 'apply view-last-applied hpa/web' },
  ],
  'top tells of all together': [
    'run one --image=x',
    'wait --for=condition=Ready pod one --timeout=60s',
    { follow: 'top pod nobody --sum' },
    'top node --show-capacity --no-headers nobody',
  ],
}

describe('coracle beside kubectl, writing', () => {
  compareScenarios(() => program, scenarios)
})
