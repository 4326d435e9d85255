import type { ManualPages } from '../manual-page.ts'

/** Commands that change what pods are, and follow how that goes. */
export const workloadPages: ManualPages = {
  rollout: {
    examples: [
      ['follow one', 'coracle rollout status deployment/web'],
      ['go back', 'coracle rollout undo deployment/web'],
    ],
    seeAlso: ['rollout status', 'rollout undo', 'set image', 'why'],
  },
  'rollout status': {
    examples: [
      ['until it is done', 'coracle rollout status deployment/web'],
      ['for at most two minutes', 'coracle rollout status deployment/web --timeout=2m'],
    ],
    seeAlso: ['rollout undo', 'why', 'wait'],
  },
  'rollout history': {
    examples: [
      ['which revisions there are', 'coracle rollout history deployment/web'],
      ['what one of them was', 'coracle rollout history deployment/web --revision=2'],
    ],
    seeAlso: ['rollout undo', 'annotate'],
  },
  'rollout undo': {
    examples: [
      ['to the revision before', 'coracle rollout undo deployment/web'],
      ['to one of the history', 'coracle rollout undo statefulset/db --to-revision=3'],
    ],
    seeAlso: ['rollout history', 'rollout status'],
  },
  'rollout pause': {
    examples: [['hold it, to change several things', 'coracle rollout pause deployment/web']],
    seeAlso: ['rollout resume'],
  },
  'rollout resume': {
    examples: [['go on', 'coracle rollout resume deployment/web']],
    seeAlso: ['rollout pause', 'rollout status'],
  },
  'rollout restart': {
    examples: [['new pods of the same template', 'coracle rollout restart deployment/web']],
    seeAlso: ['rollout status'],
  },
  set: {
    examples: [['an image', 'coracle set image deployment/web web=example/web:2']],
    seeAlso: ['set image', 'set env', 'set resources', 'rollout status'],
  },
  'set image': {
    examples: [
      ['of one container', 'coracle set image deployment/web web=example/web:2'],
      ['of all containers', "coracle set image daemonset/agent '*=example/agent:2'"],
    ],
    seeAlso: ['rollout status', 'rollout undo'],
  },
  'set env': {
    examples: [
      ['set one, and take one away', 'coracle set env deployment/web MODE=fast OLD-'],
      ['all keys of a ConfigMap', 'coracle set env deployment/web --from=configmap/settings'],
      ['print them', 'coracle set env deployment/web --list'],
    ],
    seeAlso: ['create configmap', 'rollout status'],
  },
  'set resources': {
    examples: [
      [
        'requests and limits',
        'coracle set resources deployment/web --requests=cpu=200m,memory=128Mi --limits=memory=256Mi',
      ],
    ],
    seeAlso: ['top pod', 'autoscale'],
  },
  'set serviceaccount': {
    examples: [['of the pods of a Deployment', 'coracle set serviceaccount deployment/web builder']],
    seeAlso: ['create serviceaccount'],
  },
  'set selector': {
    examples: [['a Service to another track', "coracle set selector service/web 'app=web,track=stable'"]],
    seeAlso: ['expose', 'label'],
  },
  'set subject': {
    examples: [
      ['a user and a group more', 'coracle set subject rolebinding readers --user=ann --group=staff'],
      ['a service account', 'coracle set subject clusterrolebinding viewers --serviceaccount=default:robot'],
    ],
    seeAlso: ['create rolebinding', 'create clusterrolebinding', 'auth can-i'],
  },
  'rolling-update': {
    details: [
      'It creates the new controller with one pod, then adds one there and takes one here, never before what was added is ready, and deletes the old one in the end. At --timeout, or when it is killed, both stay as they are: the same command goes on from there, and with --rollback goes back.',
      'With -f the new controller must have another name, and another value for a key of the selector. Deployments do the same by themselves, in the server: rollout.',
    ],
    examples: [
      ['to another image', 'coracle rolling-update frontend --image=example/web:2'],
      ['to the controller of a file', 'coracle rolling-update frontend -f frontend-v2.yaml --update-period=10s'],
      ['back to the old one', 'coracle rolling-update frontend frontend-v2 --rollback'],
    ],
    seeAlso: ['rollout status', 'scale', 'stop'],
  },
  stop: {
    examples: [['a controller and its pods', 'coracle stop rc frontend']],
    seeAlso: ['delete', 'scale'],
  },
}
