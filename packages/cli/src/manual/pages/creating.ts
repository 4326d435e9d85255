import type { ManualPages } from '../manual-page.ts'

/** Commands that make objects from files or from flags. */
export const creatingPages: ManualPages = {
  create: {
    details: [
      'With -f it creates what the files say, and fails where an object is there already: apply changes it. The commands below it make one object from flags; with --dry-run=client -o yaml they print it instead, as a beginning for a file.',
    ],
    examples: [
      ['the objects of a file', 'coracle create -f examples/deployment.yaml'],
      ['a manifest to begin with', 'coracle create deployment web --image=example/web --dry-run=client -o yaml'],
    ],
    seeAlso: ['apply', 'run', 'delete'],
  },
  'create deployment': {
    examples: [
      ['three replicas of an image', 'coracle create deployment web --image=example/web --replicas=3 --port=8080'],
      [
        'with a command of this host, for the process runtime',
        'coracle create deployment web --image=web -- node server.js',
      ],
    ],
    seeAlso: ['scale', 'expose', 'rollout status', 'set image'],
  },
  'create job': {
    examples: [
      ['run a command once', 'coracle create job report --image=example/report -- make report'],
      ['run a CronJob now', 'coracle create job by-hand --from=cronjob/nightly'],
    ],
    seeAlso: ['create cronjob', 'wait', 'logs'],
  },
  'create cronjob': {
    examples: [
      [
        'every night at three',
        "coracle create cronjob nightly --image=example/report --schedule='0 3 * * *' -- make report",
      ],
    ],
    seeAlso: ['create job'],
  },
  'create token': {
    details: [
      'Requests that carry it are made by the service account, until its time is over or the account, or the object it is bound to, is gone.',
    ],
    examples: [
      ['for a client outside the cluster, for a day', 'coracle create token robot --duration=24h'],
      [
        'for another service, bound to a pod',
        'coracle create token robot --audience=vault --bound-object-kind=Pod --bound-object-name=web-0',
      ],
    ],
    seeAlso: ['create serviceaccount', 'auth whoami', 'config set-credentials'],
  },
  'create namespace': {
    examples: [['a namespace', 'coracle create namespace staging']],
    seeAlso: ['create quota', 'delete'],
  },
  'create serviceaccount': {
    examples: [['an identity for pods', 'coracle create serviceaccount builder']],
    seeAlso: ['set serviceaccount', 'create rolebinding', 'auth can-i'],
  },
  'create configmap': {
    examples: [
      ['from texts', 'coracle create configmap settings --from-literal=mode=fast --from-literal=level=3'],
      ['from a file, under another key', 'coracle create configmap settings --from-file=app.conf=./production.conf'],
      ['a key for each line', 'coracle create configmap settings --from-env-file=.env'],
    ],
    seeAlso: ['create secret generic', 'set env'],
  },
  'create secret': {
    examples: [['from texts', 'coracle create secret generic login --from-literal=user=web']],
    seeAlso: ['create secret generic', 'create secret tls', 'create secret docker-registry'],
  },
  'create secret generic': {
    examples: [
      ['from texts', 'coracle create secret generic login --from-literal=user=web --from-literal=password=secret'],
      ['from files', 'coracle create secret generic keys --from-file=id_ed25519'],
    ],
    seeAlso: ['create configmap', 'set env'],
  },
  'create secret tls': {
    examples: [['a certificate and its key', 'coracle create secret tls web --cert=web.crt --key=web.key']],
    seeAlso: ['create ingress', 'create secret generic'],
  },
  'create secret docker-registry': {
    examples: [
      [
        'what opens a registry',
        'coracle create secret docker-registry pull --docker-server=registry.example.com --docker-username=web --docker-password=secret',
      ],
    ],
    seeAlso: ['create secret generic'],
  },
  'create quota': {
    examples: [['what a team may take', 'coracle create quota team --hard=pods=10,requests.cpu=4,count/configmaps=20']],
    seeAlso: ['create namespace', 'describe'],
  },
  'create poddisruptionbudget': {
    examples: [
      ['eight pods must stay', 'coracle create poddisruptionbudget web --selector=app=web --min-available=8'],
      ['a quarter may go', 'coracle create poddisruptionbudget web --selector=app=web --max-unavailable=25%'],
    ],
    seeAlso: ['drain'],
  },
  'create priorityclass': {
    examples: [
      ['pods for which others leave', "coracle create priorityclass urgent --value=1000 --description='must run'"],
    ],
    seeAlso: ['describe'],
  },
  'create role': {
    examples: [['who may read pods', 'coracle create role reader --verb=get,list,watch --resource=pods']],
    seeAlso: ['create rolebinding', 'auth can-i'],
  },
  'create clusterrole': {
    examples: [
      ['who may read nodes', 'coracle create clusterrole nodes --verb=get,list --resource=nodes'],
      ['who may read metrics', 'coracle create clusterrole metrics --verb=get --non-resource-url=/metrics'],
    ],
    seeAlso: ['create clusterrolebinding', 'auth can-i'],
  },
  'create rolebinding': {
    examples: [
      ['a role for a user', 'coracle create rolebinding readers --role=reader --user=jane'],
      ['for a service account', 'coracle create rolebinding build --clusterrole=edit --serviceaccount=ci:builder'],
    ],
    seeAlso: ['create role', 'auth can-i'],
  },
  'create clusterrolebinding': {
    examples: [['a cluster role for a group', 'coracle create clusterrolebinding ops --clusterrole=view --group=ops']],
    seeAlso: ['create clusterrole', 'auth can-i'],
  },
  'create ingress': {
    examples: [['requests of a host to a Service', "coracle create ingress web --rule='example.com/*=web:80'"]],
    seeAlso: ['expose', 'create secret tls'],
  },
  'create service': {
    examples: [['within the cluster', 'coracle create service clusterip web --tcp=80:8080']],
    seeAlso: ['expose', 'create service clusterip', 'create service nodeport'],
  },
  'create service clusterip': {
    examples: [
      ['port 80 to port 8080 of pods with app=web', 'coracle create service clusterip web --tcp=80:8080'],
      ['without an address of its own', 'coracle create service clusterip web --clusterip=None'],
    ],
    seeAlso: ['expose', 'create service nodeport'],
  },
  'create service nodeport': {
    examples: [['on port 30080 of every node', 'coracle create service nodeport web --tcp=80:8080 --node-port=30080']],
    seeAlso: ['expose', 'create service clusterip'],
  },
  'create service loadbalancer': {
    examples: [['behind a load balancer', 'coracle create service loadbalancer web --tcp=80:8080']],
    seeAlso: ['expose', 'create service clusterip'],
  },
  'create service externalname': {
    examples: [['a name elsewhere', 'coracle create service externalname db --external-name=db.example.com']],
    seeAlso: ['create service clusterip'],
  },
  run: {
    examples: [
      ['a pod of one container', 'coracle run web --image=example/web --port=8080'],
      [
        'with a command, for the process runtime',
        'coracle run once --image=none --restart=Never --command -- echo hello',
      ],
      [
        'to try something, and leave nothing',
        'coracle run try --image=none -it --rm --restart=Never --command -- bash',
      ],
    ],
    seeAlso: ['create deployment', 'create job', 'logs'],
  },
  expose: {
    examples: [
      ['a Service in front of a Deployment', 'coracle expose deployment web --port=80 --target-port=8080'],
      [
        'under another name, on a port of every node',
        'coracle expose deployment web --name=front --port=80 --type=NodePort',
      ],
    ],
    seeAlso: ['create service clusterip', 'describe'],
  },
  autoscale: {
    examples: [['between 2 and 20 replicas, by CPU', 'coracle autoscale deployment web --min=2 --max=20 --cpu=50%']],
    seeAlso: ['scale', 'top pod', 'describe'],
  },
}
