import type { ManualPages } from '../manual-page.ts'

/** Commands that show objects and what comes of them. */
export const readingPages: ManualPages = {
  get: {
    examples: [
      ['pods of the namespace, with their nodes and addresses', 'coracle get pods -o wide'],
      ['several types at once, followed', 'coracle get deployments,pods -w'],
      ['by labels, in all namespaces', "coracle get pods -A -l 'tier=front,env!=dev'"],
      ['one field of one object', "coracle get deployment web -o jsonpath='{.spec.replicas}'"],
      [
        "by a template of Go's",
        "coracle get pods -o go-template='{{range .items}}{{.metadata.name}} {{.status.phase}}{{end}}'",
      ],
      ['columns of your own', 'coracle get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName'],
    ],
    seeAlso: ['describe', 'why', 'events', 'wait'],
  },
  describe: {
    examples: [
      ['a Deployment, with its conditions and events', 'coracle describe deployment web'],
      ['all pods whose name begins so', 'coracle describe pod web-'],
      ['nodes by label', 'coracle describe nodes -l zone=a'],
    ],
    seeAlso: ['get', 'why', 'events'],
  },
  why: {
    details: [
      'A reason that holds an object up comes first, with what would help. The table then goes from the newest change to the one that began it: each line names who made the change, and the revision that made them make it.',
      'What it waits for is looked into, too: of a Deployment its pods are told of first where they are the reason. Of each reason it says whether the object goes on by itself, or is only given a hint. What you may not read is left out, and nothing is concluded from it.',
      'With --watch it goes on: with new changes as they come, and with what holds the object up whenever that is something else.',
      'You see the causes of changes of what you may get. Servers that are no Coracle keep no such record: there only the first part is told.',
    ],
    examples: [
      ['why a pod is Pending, or was made', 'coracle why pod/web-5d8f9c'],
      ['why a rollout does not go on', 'coracle why deployment web'],
      ['who deleted something', 'coracle why configmap/settings'],
      ['watch what becomes of a Job', 'coracle why job/report --watch'],
      ['the verdict alone, for a script', "coracle why deployment/web -o json | jq -r '.verdict'"],
    ],
    seeAlso: ['describe', 'events', 'get'],
  },
  logs: {
    examples: [
      ['follow a pod', 'coracle logs web-5d8f9c -f'],
      ['the last lines of all pods with a label, named', 'coracle logs -l app=web --tail=20 --prefix'],
      ['of the run that crashed', 'coracle logs web-5d8f9c -c server --previous'],
      ['of a Job, with times', 'coracle logs job/report --timestamps'],
    ],
    seeAlso: ['describe', 'events', 'get'],
  },
  wait: {
    examples: [
      ['until a Deployment is available', 'coracle wait --for=condition=Available deployment/web --timeout=2m'],
      ['until one is there, and then ready', 'coracle wait --for=create --for=condition=Ready pod/web-0'],
      ['until pods are gone', 'coracle wait --for=delete pod -l app=web'],
      ['until a field has a value', "coracle wait --for=jsonpath='{.status.phase}'=Running pod/web-0"],
    ],
    seeAlso: ['rollout status', 'get'],
  },
  events: {
    examples: [
      ['of the namespace, followed', 'coracle events -w'],
      ['of one object', 'coracle events --for deployment/web'],
      ['what went wrong anywhere', 'coracle events -A --types=Warning'],
    ],
    seeAlso: ['why', 'describe'],
  },
  top: {
    examples: [
      ['which pods use most', 'coracle top pod --sort-by=cpu'],
      ['how full the nodes are', 'coracle top node'],
    ],
    seeAlso: ['top pod', 'top node', 'autoscale'],
  },
  'top pod': {
    examples: [
      ['the pods of all namespaces, most memory first', 'coracle top pod -A --sort-by=memory'],
      ['each container by itself', 'coracle top pod web-0 --containers'],
    ],
    seeAlso: ['top node', 'autoscale', 'describe'],
  },
  'top node': {
    examples: [['all nodes, most memory first', 'coracle top node --sort-by=memory']],
    seeAlso: ['top pod', 'describe'],
  },
}
