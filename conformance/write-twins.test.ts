import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// What writes: pruning, what was last applied, changes without a server, who writes. By kubectl and by coracle.

let program: Program
beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
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

const object = (kind: string, name: string, spec: object) => ({ apiVersion: 'v1', kind, metadata: { name }, spec })

/** A deployment that an editor makes select other pods, which it may not. */
const fixed = {
  ...deployment,
  metadata: { name: 'fixed' },
  spec: {
    ...deployment.spec,
    selector: { matchLabels: { app: 'old' } },
    template: { ...deployment.spec.template, metadata: { labels: { app: 'old' } } },
  },
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'fixed' },
  spec: { clusterIP: 'None', ports: [{ port: 80 }] },
}

/** A list with an item that is of no kind, between two that are not there. */
const brokenList = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { ...deployment, metadata: { name: 'lost' } },
    { apiVersion: 'nowhere/v1', kind: 'Nothing', metadata: { name: 'n' } },
    { ...deployment, metadata: { name: 'gone' } },
  ],
}

/** A list with an item that is there, between two that are not. */
const lostList = {
  apiVersion: 'v1',
  kind: 'List',
  items: [configMap('lost', {}), configMap('there', {}), configMap('gone', {})],
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
    ['apply --prune -f - --applyset=one', manifest(labelled('a', 'web'))],
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
  'several objects are printed one after another, by one printer or one for each': [
    ['create -f -', manifest(configMap('a', { k: '1' }), configMap('b', { k: '2' }))],
    ...['one', 'two'].map((name) => `create deployment ${name} --image=x:1 --replicas=0`),
    ...['patch cm a b -p {"data":{"x":"1"}}', 'annotate cm a b x=1', 'edit cm a b'].map((line) => `${line} -o yaml`),
    'patch cm a b -p {"data":{"x":"2"}} -o kyaml',
    'patch cm a b -p {"data":{"x":"3"}} -o json',
    ...['label', 'annotate'].map((verb) => `${verb} cm a b x=2 --overwrite --dry-run=client -o yaml`),
    ['patch --local -f - -p {"data":{"x":"4"}} -o yaml', manifest(configMap('a', {}), configMap('b', {}))],
    {
      until: 'get deploy one two -o jsonpath={.items[*].status.conditions[*].reason}',
      shows: /NewReplicaSetAvailable.*NewReplicaSetAvailable/,
    },
    ...['history', 'pause'].map((verb) => `rollout ${verb} deploy one two -o yaml`),
    'autoscale deploy one two --max=3 -o yaml --dry-run=client',
    'taint node node-0 node-1 a=b:NoSchedule -o yaml --dry-run=client',
    ...['create', 'apply'].map(
      (verb) => [`${verb} -f - -o yaml --dry-run=client`, manifest(configMap('y', {}), configMap('z', {}))] as const,
    ),
  ],
  'a template that cannot be executed is shown with what it was given': [
    `create cm z --from-literal=k='"two" words' --dry-run=client -o jsonpath={.data.x} --allow-missing-template-keys=false`,
    'run z --image=x --privileged --dry-run=client -o jsonpath={nonsense}',
    'run z --image=x --port=80 --dry-run=client -o jsonpath={.spec[2]}',
    'run z --image=x --dry-run=client -o jsonpath-as-json={.spec[2]}',
    'get sa -l a=nobody -o jsonpath={.items[2]}',
  ],
  'numbers are shown as they are given': [
    [
      'apply -f -',
      manifest(
        object('Pod', 'p', {
          nodeSelector: { no: 'where' },
          containers: [{ name: 'a', image: 'b' }],
          tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4503599627370497 }],
        }),
      ).replace('4503599627370497', '9007199254740993'),
    ],
    'apply view-last-applied pod p',
    'apply view-last-applied pod p -o json',
    'apply edit-last-applied pod p',
    'get pod p -o jsonpath={.spec.tolerations[0].tolerationSeconds}',
  ],
  'what was last applied is shown and set': [
    ['apply -f -', manifest(configMap('a', { k: '1' }), configMap('b', { k: '2' }))],
    'create configmap own --from-literal=a=1',
    'apply view-last-applied cm/a',
    'apply view-last-applied cm a -o json',
    'apply view-last-applied cm a b',
    'apply view-last-applied cm',
    'apply view-last-applied',
    'apply view-last-applied cm -l app=nobody -o wide',
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
    [`patch --local -f - -p '{"spec":{}}'`, manifest({ ...configMap('a', {}), apiVersion: 'x/v1', kind: 'Own' })],
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
    // In order of their names, too: entries of one second are.
    'create configmap own --from-literal=a=1 --field-manager=ann',
    'get cm own -o jsonpath={.metadata.managedFields[*].manager}',
    'label cm own a=b --field-manager=bob',
    'annotate cm own a=b --field-manager=cid',
    `patch cm own -p '{"data":{"b":"2"}}' --field-manager=dan`,
    'get cm own -o jsonpath={.metadata.managedFields[*].manager}',
    ['apply -f - --field-manager=it', manifest(configMap('applied', { k: '1' }))],
    'get cm applied -o jsonpath={.metadata.managedFields[*].manager}',
  ],
  'run, expose and autoscale note what they made': [
    'run p --image=x --image-pull-policy=Always --privileged --dry-run=client -o yaml',
    'run p --image=x --image-pull-policy=Sometimes',
    'run p --image=InvalidImageName',
    ['apply -f -', manifest(deployment)],
    'expose deployment web --port=80 --save-config --dry-run=client -o jsonpath={.spec}',
    'expose deployment web --port=80 --save-config',
    'autoscale deployment web --max=3 --save-config',
    'get service,hpa -o jsonpath={range .items[*]}{.kind}{end}',
    { follow: 'apply view-last-applied service/web' },
    { follow: 'apply view-last-applied hpa/web' },
  ],
  'delete goes from type to type, and waits for nothing where something is refused': [
    ['create -f -', manifest(configMap('held', {}, { finalizers: ['example.com/wait'] }))],
    'run one --image=x -l app=web',
    'run two --image=x -l app=db',
    // The scheduler may delete pods, and not know of secrets.
    'delete pods,secrets -l app=web --as=system:kube-scheduler --grace-period=1',
    'delete secrets,pods,cm -l app=db --as=system:kube-scheduler -i',
    'delete secrets,pods -l app=db --as=system:kube-scheduler --now',
    'delete secrets,pods -l app=nobody --as=system:kube-scheduler --force',
    'delete cm held nobody',
    'delete cm held nobody --ignore-not-found --wait=false',
    `patch cm held --type=merge -p {"metadata":{"finalizers":null}}`,
    { until: 'get pods,cm -l app -o name --ignore-not-found', shows: /^$/ },
  ],
  'what is wrong with items of lists': [
    ['create -f -', manifest(configMap('there', {}))],
    ...['get', 'get --ignore-not-found', 'get -o name', 'describe', 'label a=b', 'apply --dry-run=client'].flatMap(
      (verb) => [brokenList, lostList].map((list) => [`${verb} -f -`, manifest(list)] as const),
    ),
    ['get -f -', manifest(lostList, configMap('nobody', {}))],
    ['get -f - -o name', manifest(configMap('there', {}), configMap('nobody', {}))],
    ['wait --for=delete --timeout=1s -f -', manifest(brokenList)],
    ['set image c=y --local -o name -f -', manifest(brokenList)],
    ['set env A=b --local -o name -f -', manifest(brokenList)],
    ['rollout restart -f -', manifest(brokenList)],
    ['rollout history -f -', manifest(brokenList)],
  ],
  'files without objects, or without types': [
    ...['apply', 'apply --server-side', 'create', 'delete', 'get', 'describe'].map(
      (verb) => [`${verb} -f -`, ''] as const,
    ),
    ...['apply', 'create', 'replace'].flatMap((verb) =>
      [configMap('a', {}), { metadata: { name: 'a' } }].map(
        (object) => [`${verb} -f -`, manifest({ ...object, kind: undefined })] as const,
      ),
    ),
    ['apply -f -', manifest({ ...configMap('a', {}), apiVersion: undefined })],
    ['apply -f -', 'just text'],
    ['delete -f -', manifest({ ...configMap('a', {}), kind: undefined })],
    'apply -f packages/cli/src/commands',
  ],
  'flags before the command go with it': [
    ['-f - apply', manifest(labelled('a', 'web'))],
    ['--server-side --field-manager=me -f - apply', manifest(labelled('b', 'web'))],
    '-l app=web get cm -o name',
    '-o name get cm -l app=web',
    '-oname get cm -l app=web',
    '--output=name get --selector app=web cm',
    '--dry-run=client delete cm a',
    'create --dry-run=client -o name configmap c',
    'create --from-literal a=b configmap c',
    'rollout --timeout 3s status deployment nobody',
    'rollout -w=false status deployment nobody',
  ],
  'delete asks, waits, and says what it does': [
    ['create -f -', manifest(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => labelled(name, 'web')))],
    ['create -f -', manifest(configMap('held', {}, { finalizers: ['example.com/wait'] }))],
    // kubectl asks once more within the time, and has other words where that fails.
    'delete cm held --timeout=1s',
    'delete cm held --wait=false --now',
    `patch cm held --type=merge -p {"metadata":{"finalizers":null}}`,
    'delete cm nobody --ignore-not-found',
    'delete cm nobody a --ignore-not-found',
    'delete cm b --force',
    'delete cm c --now',
    'delete cm d --now --grace-period=3',
    'delete cm d --force --grace-period=5',
    'delete cm d --grace-period=0',
    'delete cm --field-selector=metadata.name=e',
    'delete cm --field-selector=data.x=1',
    'delete cm --field-selector=metadata.name=f --all',
    'delete cm -l app=web --dry-run=server -o name',
    ['delete cm -l app=web -i', 'n\n'],
    ['delete cm -l app=web --interactive', ''],
    ['delete cm f -i', 'Y\n'],
    ['delete cm nobody -i', 'y\n'],
    ['delete cm -l app=none -i', 'y\n'],
    ['delete -f -', manifest(configMap('nobody', {}))],
    'delete cm g --cascade=wrong',
    'delete',
    'delete namespace nobody-at-all',
    'get cm -o name',
  ],
  '--raw sends what a file holds to a path': [
    ['create --raw /api/v1/namespaces/{namespace}/configmaps -f -', manifest(configMap('raw', { a: '1' }))],
    ['create --raw /api/v1/namespaces/{namespace}/configmaps -f -', 'nonsense'],
    ['create --raw /api/v1 -f - -o name', manifest(configMap('raw', {}))],
    ['create --raw /api/v1 -f - -l a=b', manifest(configMap('raw', {}))],
    ['create --raw /api/v1 -f - --edit', manifest(configMap('raw', {}))],
    'create --raw /api/v1',
    'create something',
    ['replace --raw /api/v1/namespaces/{namespace}/configmaps/raw -f -', manifest(configMap('raw', { a: '2' }))],
    ['replace --raw api/v1 -f -', manifest(configMap('raw', {}))],
    'replace --raw /api/v1 -f http://nowhere',
    'replace --raw /api/v1 -f /nowhere',
    'get cm raw -o jsonpath={.data}',
    'delete --raw /api/v1/namespaces/{namespace}/configmaps/nobody',
    'delete --raw /api/v1 -f - -f -',
    'delete --raw /api/v1 -R',
    'delete --raw /api/v1 --all -l a=b',
    [
      'delete --raw /api/v1/namespaces/{namespace}/configmaps/raw -f -',
      '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}',
    ],
    'delete --raw /api/v1/namespaces/{namespace}/configmaps/raw',
  ],
  'replace --force makes all anew': [
    ['create -f -', manifest(configMap('a', {}), configMap('b', {}))],
    ['create -f -', manifest(configMap('held', {}, { finalizers: ['example.com/wait'] }))],
    ['replace -f - --force --timeout=1s --wait', manifest(configMap('held', { a: '1' }))],
    `patch cm held --type=merge -p {"metadata":{"finalizers":null}}`,
    ['replace -f - --force', manifest(configMap('a', { b: '1' }), configMap('b', { b: '1' }), configMap('c', {}))],
    ['replace -f - --force --grace-period=0 -o name', manifest(configMap('a', { c: '1' }))],
    ['replace -f - --force --cascade=foreground', manifest(configMap('a', { c: '1' }), configMap('A', {}))],
    ['replace -f - --grace-period=5', manifest(configMap('a', {}))],
    ['replace -f - --grace-period=-1 --wait', manifest(configMap('a', { d: '1' }))],
    ['replace -f - --cascade=what', manifest(configMap('a', {}))],
    'get cm a b -o jsonpath={.items[*].data}',
  ],
  'apply knows what its flags need': [
    ['apply -f -', manifest(deployment)],
    ['apply -f - --overwrite=false', manifest(deployment)],
    ['apply -f - --overwrite --openapi-patch=false --wait --timeout=1s', manifest(deployment)],
    ['apply -f - --grace-period=5 --cascade=orphan', manifest(deployment)],
    ['apply -f - --cascade=wrong', manifest(deployment)],
    ['apply -f - --subresource=status', manifest(deployment)],
    [
      'apply -f - --subresource=status --server-side --force-conflicts --dry-run=server -o jsonpath={.status.collisionCount}',
      manifest({ ...deployment, status: { collisionCount: 9 } }),
    ],
    ['apply -f - --subresource=nothing --server-side', manifest(deployment)],
    ['apply -f - --all -l a=b', manifest(deployment)],
    ['apply -f - -l a=b', manifest(deployment)],
    ['apply -f - something', manifest(deployment)],
    ['create -f -', manifest(configMap('held', {}, { finalizers: ['example.com/wait'] }))],
    'delete cm held --wait=false',
    ['apply -f - --server-side', manifest(configMap('held', { a: '1' }))],
    `patch cm held --type=merge -p {"metadata":{"finalizers":null}}`,
  ],
  'diff shows what would be pruned, too': [
    ['apply -f -', manifest(labelled('a', 'web'), labelled('b', 'web'), labelled('c', 'db'))],
    ['diff -f - -l app=web', manifest(labelled('a', 'web'))],
    ['diff -f - -l app=web', manifest(labelled('a', 'web', { k: 'v' }))],
    ['diff -f - --concurrency=3 --prune -l app=web --show-managed-fields', manifest(labelled('a', 'web'))],
    ['diff -f - --prune --show-managed-fields', manifest(labelled('a', 'web'))],
    ['diff -f - --prune --prune-allowlist=core/v1/Secret', manifest(labelled('a', 'web'))],
    ['diff -f - --prune --prune-allowlist=core/v1', manifest(labelled('a', 'web'))],
    ['diff -f - --prune --prune-allowlist=core/v1/Nothing', manifest(labelled('a', 'web'))],
    ['diff -f - --force-conflicts', manifest(labelled('a', 'web'))],
    'get cm -l app -o name',
  ],
  'edit opens what is there, in one file': [
    ['apply -f -', manifest(configMap('a', { k: 'old' }), configMap('b', { k: 'old' }), configMap('c', {}))],
    'edit cm a --output-patch',
    'edit cm a',
    'edit cm a b c',
    'edit cm b --windows-line-endings -o json',
    'edit cm nobody a',
    'edit cm',
    'edit',
    'edit cm a --validate=what',
    'edit cm a --subresource=status',
    'edit cm a -o name',
    'apply edit-last-applied cm a c --validate=warn',
    'apply view-last-applied cm a',
    'create configmap own --from-literal=k=old',
    'apply edit-last-applied cm own',
    'edit cm own --save-config',
    'get cm -o jsonpath={.items[*].data.k}',
  ],
  'edit says what becomes of what is refused': [
    ['apply -f -', manifest(configMap('old', {}), configMap('a', { k: 'old' }))],
    ['apply -f -', manifest(fixed)],
    'edit cm old',
    'edit cm a old',
    'edit deploy fixed',
    'edit deploy fixed -o json',
    'edit deploy/fixed cm/a',
    'edit deploy fixed --validate=ignore',
    'get cm,deploy -o name',
    'apply edit-last-applied cm old',
    'apply edit-last-applied deploy fixed',
    ['create --edit -f -', manifest({ ...configMap('b', {}), immutable: 'old' })],
    ['create --edit -f -', manifest({ ...configMap('b', {}), old: true })],
  ],
  'create --edit opens what is not there yet': [
    ['create --edit -f -', manifest(configMap('a', { k: 'old' }), configMap('b', {}), configMap('c', { k: 'old' }))],
    ['create --edit --save-config -f - -o yaml', manifest(configMap('d', { k: 'old' }))],
    ['create --edit --windows-line-endings -f - -o json', manifest(configMap('e', { k: 'old' }))],
    ['create --edit -f - -o name', manifest(configMap('f', { k: 'old' }))],
    'get cm -o name',
  ],
  'label and annotate take all, list, and know versions': [
    // Of a kind of which controllers make none: all of them are these two.
    'create secret generic a',
    'create secret generic b',
    'label secret --all x=1',
    'label secret --all x=2',
    'label secret --all x=2 --overwrite',
    'label secret a y=1 --list -o yaml',
    'label secret a --list',
    'label secret --all --list',
    'label secret a b --list',
    'label secret --all -l x=2 y=2',
    'label secret a x=3 --overwrite --resource-version=1',
    'label secret a b x=3 --overwrite --resource-version=1',
    'label --all x=1',
    'label secret a =b',
    'annotate secret --field-selector=metadata.name=a x=1',
    'annotate secret --all x=2',
    'annotate secret --all x=2 --overwrite',
    'annotate secret a --list -o yaml',
    'annotate secret a b --list',
    'annotate secret --all --field-selector=metadata.name=a x=2',
    'annotate secret a b x=3 --resource-version=1',
    'get secret -o jsonpath={.items[*].metadata.labels}{.items[*].metadata.annotations}',
  ],
  'run and expose make what --overrides says': [
    ['create -f -', manifest(deployment)],
    'run p --image=x --dry-run=client -o yaml ARG:--overrides={"spec":{"nodeName":"n","nothing":1}}',
    'run p --image=x --dry-run=client -o yaml --override-type=strategic ARG:--overrides={"spec":{"containers":[{"name":"p","env":[{"name":"A","value":"1"}]}]}}',
    'run p --image=x --dry-run=client -o yaml --override-type=json ARG:--overrides=[{"op":"add","path":"/metadata/labels/x","value":"y"}]',
    'run p --image=x -o jsonpath={.metadata.labels} ARG:--overrides={"metadata":{"labels":{"a":"b"}}}',
    'run p --image=x --dry-run=client --override-type=wrong ARG:--overrides={}',
    'run p --image=x --dry-run=client --override-type=wrong',
    'run p --image=x ARG:--overrides={nonsense',
    'run p --image=x ARG:--overrides=spec: {nodeName: n}',
    'expose deploy web --port=80 --dry-run=client -o yaml ARG:--overrides={"spec":{"type":"NodePort"}}',
    'expose deploy web --port=80 --dry-run=client -o yaml --override-type=json ARG:--overrides=[{"op":"replace","path":"/spec/ports/0/port","value":81}]',
    'expose deploy web --port=80 ARG:--overrides={"spec":{"sessionAffinity":"ClientIP"}}',
    'get svc web -o jsonpath={.spec.sessionAffinity}',
    'expose deploy web --port=80 --name=other -l a=b --selector=c=d --dry-run=client -o yaml',
  ],
  'set env tells what variables come to': [
    'create cm settings --from-literal=key=value',
    'create secret generic hidden --from-literal=key=secret',
    ['create -f -', manifest(deployment)],
    'set env deploy web --from=cm/settings --prefix=C_',
    'set env deploy web --from=secret/hidden --prefix=S_',
    `patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","resources":{"limits":{"cpu":"1500m"}},"env":[{"name":"PLAIN","value":"1"},{"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},{"name":"NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}},{"name":"MISSING","valueFrom":{"configMapKeyRef":{"name":"settings","key":"nope"}}},{"name":"CPUS","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","containerName":"web"}}}]}]}}}}'`,
    'set env deploy web --list',
    'set env deploy web --list --resolve',
    'delete secret hidden',
    'set env deploy web --list --resolve',
    'set env deploy web --resolve',
  ],
  'create secret docker-registry takes files': [
    'create secret docker-registry a --from-file=package.json --dry-run=client -o name',
    'create secret docker-registry a --from-file=biome.json --append-hash --dry-run=client -o yaml',
    'create secret docker-registry a --from-file=x=biome.json --docker-username=ignored -o jsonpath={.type}',
    'create secret docker-registry b --from-file=docs --dry-run=client',
    'create secret docker-registry b --from-file=/nowhere --dry-run=client',
    'create secret docker-registry b --from-file=a=b=c --dry-run=client',
    'create secret docker-registry b --docker-username=x --docker-password=y --docker-server=',
    "create secret docker-registry b '--from-file=a b=biome.json' --dry-run=client",
    'create secret docker-registry b --from-file=..a=biome.json --dry-run=client',
    'create secret docker-registry b --from-file=a=biome.json --from-file=a=biome.json --dry-run=client',
    'create configmap b --from-literal=..=x --dry-run=client',
    'create configmap b --from-file=key=docs --dry-run=client',
    'create secret generic A_',
    'create configmap A_',
  ],
  'what was read is created elsewhere, and names are taken as they are given': [
    ['create -f -', manifest({ ...deployment, metadata: { ...deployment.metadata, resourceVersion: '7' } })],
    ['apply -f -', manifest({ ...deployment, metadata: { name: 'applied', resourceVersion: '7' } })],
    'get deploy.ap web -o name',
    'get deployments.v1.ap',
    'get deploy.app.web',
    'expose deploy web --port=80 --name=a-name-of-a-service-that-has-many-more-than-the-sixty-three-characters',
    'expose deploy web --port=80 --name= -o name',
    'cordon --selector=',
    'uncordon --selector=',
    'drain --selector=',
    'cordon {node} --selector=',
    'uncordon {node} --selector=',
    'uncordon {node} --selector=a=b',
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

it('says of labels what has come of them, and asks for nothing where nothing has, as kubectl 1.36', async () => {
  await program.coracle(['create', 'configmap', 'labels'])
  const label = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await program.coracle(['label', 'configmap', 'labels', ...args])
    return code === 0 ? stdout : stderr
  }
  expect(await label('a=1', 'b=1')).toBe('configmap/labels labeled\n')
  expect(await label('a=1', 'b-')).toBe('configmap/labels unlabeled\n')
  expect(await label('a-', 'b=1')).toBe('configmap/labels modified\n')
  expect(await label('a=1', 'b-', '--dry-run=client')).toBe('configmap/labels modified (dry run)\n')
  expect(await label('b=1', '--resource-version=1')).toBe('configmap/labels not labeled\n')
  expect(await label('b=2', '--overwrite', '--resource-version=1')).toContain('Conflict')
})
