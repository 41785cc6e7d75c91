#include <Eigen/Dense>
#include <boost/math/distributions/students_t.hpp>
