/** kubectl's commands in the order in which it suggests them. */
export const kubectlCommands: readonly string[] = [
  ...'create expose run set explain get edit delete rollout scale autoscale certificate cluster-info top'.split(' '),
  ...'cordon uncordon drain taint describe logs attach exec port-forward proxy cp auth debug events'.split(' '),
  ...'diff apply patch replace wait kustomize label annotate completion alpha config plugin version'.split(' '),
  ...'api-versions api-resources options'.split(' '),
]
