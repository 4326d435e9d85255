import { evictionDetails, evictionThresholds } from '@coracle/kubelet'
import { describe, expect, it } from 'vitest'
import { type ContainerRuntimeFlags, containerRuntimeOf, refuseImages } from './container-runtime-flags.ts'

const of = (flags: ContainerRuntimeFlags & { readonly nodes?: number }) => containerRuntimeOf(flags, '/home/jane')

const limits = { highThresholdPercent: 85, lowThresholdPercent: 80, ageMinMs: 120_000, ageMaxMs: 0 }

describe('a container runtime', () => {
  it('is asked where it usually listens, with upstream’s limits of images', () => {
    expect(of({ runtime: 'cri' })).toEqual({
      containerRuntime: {
        endpoint: 'unix:///run/containerd/containerd.sock',
        protocol: 'cri',
        imageLimits: limits,
        evictionThresholds,
        eviction: evictionDetails,
      },
    })
    expect(of({ runtime: 'docker' })).toMatchObject({ containerRuntime: { endpoint: 'unix:///var/run/docker.sock' } })
  })

  it('is asked where it is said to listen, as it is said', () => {
    const { containerRuntime } = of({
      runtime: 'docker',
      containerRuntimeEndpoint: '/run/docker.sock',
      podInfraContainerImage: 'example/pause',
      podLogsDir: 'logs',
      rootDir: 'kubelet',
      clusterDns: ['10.0.0.10'],
      clusterDomain: 'example.internal.',
      resolvConf: import.meta.filename,
      imageGcHighThreshold: 60,
      imageGcLowThreshold: 50,
      minimumImageTtlDuration: 1000,
      imageMaximumGcAge: 86_400_000,
      evictionHard: 'memory.available<1Gi,nodefs.available<0%',
    })
    expect(containerRuntime).toEqual({
      endpoint: 'unix:///run/docker.sock',
      protocol: 'docker',
      infraImage: 'example/pause',
      podLogsDirectory: '/home/jane/logs',
      rootDirectory: '/home/jane/kubelet',
      clusterDns: ['10.0.0.10'],
      clusterDomain: 'example.internal',
      resolvConf: import.meta.filename,
      imageLimits: { highThresholdPercent: 60, lowThresholdPercent: 50, ageMinMs: 1000, ageMaxMs: 86_400_000 },
      evictionThresholds: { 'memory.available': '1Gi' },
      eviction: evictionDetails,
    })
  })

  it('is said more of evictions', () => {
    const { containerRuntime } = of({
      runtime: 'cri',
      evictionSoft: 'memory.available<300Mi',
      evictionSoftGracePeriod: 'memory.available=1m30s',
      evictionMinimumReclaim: 'nodefs.available=500Mi',
      evictionMaxPodGracePeriod: 20,
      evictionPressureTransitionPeriod: 60_000,
    })
    expect(containerRuntime?.eviction).toEqual({
      soft: { 'memory.available': '300Mi' },
      softGraceMs: { 'memory.available': 90_000 },
      minimumReclaim: { 'nodefs.available': '500Mi' },
      podGraceMaxMs: 20_000,
      pressureTransitionMs: 60_000,
    })
    expect(() => of({ runtime: 'cri', evictionSoft: 'memory.available<300Mi' })).toThrow(
      '--eviction-soft names memory.available: say in --eviction-soft-grace-period how long that is borne',
    )
    expect(() => of({ runtime: 'cri', evictionMinimumReclaim: 'x=1' })).toThrow('--eviction-minimum-reclaim: "x=1"')
    expect(() => of({ evictionSoft: 'memory.available<300Mi' })).toThrow('--eviction-soft is for containers')
  })

  it('is told of no names of the host where the file that says how they are looked up has no name', () => {
    expect(of({ runtime: 'cri', resolvConf: '' })).toMatchObject({ containerRuntime: { resolvConf: '/dev/null' } })
  })

  it('is none where containers are processes, or simulated', () => {
    expect([of({}), of({ runtime: 'process' }), of({ runtime: 'simulated' })]).toEqual([{}, {}, {}])
  })

  it.each<[ContainerRuntimeFlags & { readonly nodes?: number }, string]>([
    [
      { imageMaximumGcAge: 1 },
      '--image-maximum-gc-age is for containers of a container runtime: give --runtime cri or docker too',
    ],
    [{ runtime: 'process', clusterDns: [] }, '--cluster-dns is for containers of a container runtime'],
    [{ clusterDomain: 'x' }, '--cluster-domain is for containers of a container runtime'],
    [{ resolvConf: 'x' }, '--resolv-conf is for containers of a container runtime'],
    [{ runtime: 'cri', clusterDns: ['10.0.0.10', 'dns.example'] }, '--cluster-dns: "dns.example" is no IP address'],
    [
      { runtime: 'cri', clusterDomain: 'Cluster_Local' },
      '--cluster-domain "Cluster_Local": a lowercase RFC 1123 subdomain',
    ],
    [{ runtime: 'cri', clusterDomain: `${'x'.repeat(51)}` }, 'a domain has 50 characters at most'],
    [{ runtime: 'cri', resolvConf: 'resolv.conf' }, '--resolv-conf: /home/jane/resolv.conf is no file'],
    [{ runtime: 'cri', resolvConf: '/' }, '--resolv-conf: / is no file'],
    [{ runtime: 'cri', podInfraContainerImage: 'x' }, '--pod-infra-container-image is for --runtime docker'],
    [{ runtime: 'cri', nodes: 2 }, 'one host with a container runtime is one node, not 2'],
    [
      { runtime: 'cri', imageGcHighThreshold: 80 },
      '--image-gc-low-threshold 80 is to be below --image-gc-high-threshold 80',
    ],
    [
      { runtime: 'cri', evictionHard: 'memory.free<1Gi' },
      '--eviction-hard: "memory.free<1Gi" is none of memory.available, nodefs.available, nodefs.inodesFree, ',
    ],
    [
      { runtime: 'cri', imageMaximumGcAge: 120_000 },
      '--image-maximum-gc-age is to be 0, or longer than --minimum-image-ttl-duration (2m)',
    ],
  ])('is refused with flags that contradict each other: %j', (flags, problem) => {
    expect(() => of(flags)).toThrow(problem)
  })

  it('has images of its own', () => {
    expect(() => refuseImages({ runtime: 'cri', images: 'x' })).toThrow('--images says which programs images stand for')
    expect(() => refuseImages({ runtime: 'simulated', images: 'x' })).toThrow('simulated ones run nothing')
    expect(() => refuseImages({ runtime: 'cri' })).not.toThrow()
    expect(() => refuseImages({ images: 'x' })).not.toThrow()
  })
})
