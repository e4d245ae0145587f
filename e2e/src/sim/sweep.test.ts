import { sweeping } from './testing/sweeping.js';

sweeping(['create', 'create-gang', 'scale-up', 'scale-down', 'lost-pod', 'delete', 'delete-gang'], 'all steps');
