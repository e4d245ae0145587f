import { sweeping } from './sweeping.js';

sweeping(['create', 'create-gang', 'scale-up', 'scale-down', 'lost-pod', 'delete', 'delete-gang', 'standalone']);
