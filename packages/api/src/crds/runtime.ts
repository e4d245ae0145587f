/** `ServingRuntime` and `ClusterServingRuntime`: templates of components for the models they support. */
import { scalingPolicy } from './autoscaling.js';
import { runtimeComponent, runtimeRouter } from './component.js';
import { type CustomResourceDefinition, defineResource, type PrinterColumn } from './definition.js';
import { conditions, podFields } from './kubernetes.js';
import { diffusionPipeline, modelFormat, modelFramework } from './model.js';
import { about, bool, int32, int64, list, mapOf, named, object, type StructuralSchema, str } from './schema.js';

const strings = list(str());
const count = int64({ minimum: 0 });

const acceleratorModelConfig: StructuralSchema = named(
  'AcceleratorModelConfig',
  object({
    minMemoryPerBillionParams: count,
    tensorParallelismOverride: named(
      'TensorParallelismOverride',
      object({ tensorParallelSize: count, pipelineParallelSize: count, dataParallelSize: count }),
    ),
    runtimeArgsOverride: strings,
    environmentOverride: mapOf(str()),
  }),
);

const supportedModelFormat = named(
  'SupportedModelFormat',
  object(
    {
      name: str(),
      modelFormat,
      modelFramework,
      modelArchitecture: str(),
      modelType: about('Not used.', str()),
      version: about('Not used for selection.', str()),
      quantization: str(),
      diffusionPipeline,
      modelCacheProviders: strings,
      autoSelect: about('Whether the runtime may be selected without being named.', bool()),
      priority: about('The highest of the matching ones is selected.', int32({ minimum: 1 })),
      acceleratorConfig: about('By accelerator class.', mapOf(acceleratorModelConfig)),
    },
    ['modelFormat', 'modelFramework'],
  ),
);

const spec = named(
  'ServingRuntimeSpec',
  object({
    ...podFields,
    nodeSelector: about('Added to the pods of engine and decoder.', mapOf(str())),
    labels: mapOf(str()),
    annotations: mapOf(str()),
    supportedModelFormats: about('What the runtime can serve.', list(supportedModelFormat)),
    modelSizeRange: named(
      'ModelSizeRange',
      object({ min: about('Smallest model, such as 7B.', str()), max: about('Largest model, such as 70B.', str()) }),
    ),
    disabled: about('True keeps services from using the runtime.', bool()),
    engineConfig: about('Template of the engine.', runtimeComponent),
    decoderConfig: about('Template of the decoder.', runtimeComponent),
    routerConfig: about('Template of the router, for services that declare one.', runtimeRouter),
    protocolVersions: strings,
    scalingPolicy,
    acceleratorRequirements: named(
      'AcceleratorRequirements',
      object({
        acceleratorClasses: strings,
        minMemory: count,
        minComputePerformanceTFLOPS: count,
        minArchitectureVersion: str(),
        requiredFeatures: strings,
        preferredPrecisions: strings,
      }),
    ),
  }),
);

const status = named('ServingRuntimeStatus', object({ inheritanceChain: strings, conditions }));

const columns: readonly PrinterColumn[] = [
  { name: 'Disabled', type: 'boolean', jsonPath: '.spec.disabled' },
  { name: 'ModelFormat', type: 'string', jsonPath: '.spec.supportedModelFormats[*].modelFormat.name' },
  { name: 'ModelFramework', type: 'string', jsonPath: '.spec.supportedModelFormats[*].modelFramework.name' },
  { name: 'ModelFrameworkVersion', type: 'string', jsonPath: '.spec.supportedModelFormats[*].modelFramework.version' },
  { name: 'ModelArchitecture', type: 'string', jsonPath: '.spec.supportedModelFormats[*].modelArchitecture' },
  { name: 'ModelSizeMin', type: 'string', jsonPath: '.spec.modelSizeRange.min' },
  { name: 'ModelSizeMax', type: 'string', jsonPath: '.spec.modelSizeRange.max' },
  { name: 'Images', type: 'string', jsonPath: '.spec.containers[*].image' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** The namespaced runtime. */
export const servingRuntime: CustomResourceDefinition = defineResource({
  kind: 'ServingRuntime',
  plural: 'servingruntimes',
  scope: 'Namespaced',
  description: 'How the services of one namespace run models of some formats.',
  spec,
  status,
  specHint: 'write spec.engineConfig',
  columns,
});

/** The runtime of a whole cluster. */
export const clusterServingRuntime: CustomResourceDefinition = defineResource({
  kind: 'ClusterServingRuntime',
  plural: 'clusterservingruntimes',
  scope: 'Cluster',
  description: 'How the services of the cluster run models of some formats.',
  spec,
  status,
  specHint: 'write spec.engineConfig',
  columns,
});
