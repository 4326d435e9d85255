export { type DockerRuntimeOptions, openDockerRuntime } from './open-docker-runtime.ts'
